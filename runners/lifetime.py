"""How long a process of the site lives: until a signal asks it to end, or whoever started it is gone."""

import logging
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

logger = logging.getLogger(__name__)


class Lifetime:
    """Of this process, from here on; made in its main thread. ``over`` is set once it is to end."""

    def __init__(self, over: threading.Event | None = None) -> None:
        self.over = over or threading.Event()
        self._launcher = os.getppid()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def rounds(self, seconds: float) -> Iterator[None]:
        """One round each ``seconds`` seconds for as long as it lasts; ``over`` is set after the last one."""
        while not self.over.wait(seconds):
            yield
            if os.getppid() != self._launcher:
                logger.warning("the launcher is gone, stopping")
                self.over.set()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.over.set()
