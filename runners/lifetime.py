"""How long a process of the site lives: until a signal asks it to end, or whoever started it is gone."""

import logging
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from types import FrameType

logger = logging.getLogger(__name__)


def set_on_signals(event: threading.Event, numbers: Iterable[int]) -> None:
    """Sets ``event`` when one of the signals comes. Call it in the main thread.

    Not in the handler itself: it runs in the main thread between any two steps, and where that waits for the
    event and holds its lock at that moment, it would wait for itself for ever.
    """
    reading, writing = os.pipe2(os.O_CLOEXEC)
    process = os.getpid()

    def tell(number: int, frame: FrameType | None) -> None:
        if os.getpid() == process:  # a fork has the pipe, too
            os.write(writing, b"\0")

    def watch() -> None:
        while os.read(reading, 1):
            event.set()

    threading.Thread(target=watch, name="signals", daemon=True).start()
    for number in numbers:
        signal.signal(number, tell)


class Lifetime:
    """Of this process, from here on; made in its main thread. ``over`` is set once it is to end."""

    def __init__(self, over: threading.Event | None = None) -> None:
        self.over = over or threading.Event()
        self._launcher = os.getppid()
        set_on_signals(self.over, (signal.SIGTERM, signal.SIGINT))

    def rounds(self, seconds: float) -> Iterator[None]:
        """One round each ``seconds`` seconds for as long as it lasts; ``over`` is set after the last one."""
        while not self.over.wait(seconds):
            yield
            if os.getppid() != self._launcher:
                logger.warning("the launcher is gone, stopping")
                self.over.set()
