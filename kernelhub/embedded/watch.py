"""Starting the embedded servers again when they were killed, where their clients look for them."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from kernelhub.embedded.redis import RedisStartError
from kernelhub.restarts import Restarts

#: Starts in a row that may fail; with their pauses they take a minute or more.
MOST_FAILURES = 6


class Server(Protocol):
    def start(self) -> str:
        """Returns its address."""

    def alive(self) -> bool: ...


class ServiceGone(RuntimeError):
    """A server can't be started any more; the message is one sentence that names it and says why."""


@dataclass
class _Watched:
    name: str
    server: Server
    address: str
    restarts: Restarts = field(default_factory=lambda: Restarts(started=time.monotonic()))
    failures: int = 0


class ServiceWatch:
    """The servers that this process has started."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._watched: list[_Watched] = []

    def start(self, name: str, server: Server) -> str:
        """Start ``server`` and watch it from now on; its address."""
        address = server.start()
        self._watched.append(_Watched(name, server, address))
        return address

    def look(self, now: float) -> None:
        """Start again what is gone and due. A start may take ten seconds. Raises ServiceGone."""
        for watched in self._watched:
            if watched.server.alive():
                continue
            if watched.restarts.plan(now):
                self._say(f"{watched.name} ended; starting it again in {watched.restarts.pause:.0f} s")
            elif watched.restarts.due(now):
                watched.restarts.begin(now)
                self._start_again(watched)

    def _start_again(self, watched: _Watched) -> None:
        try:
            address = watched.server.start()
        # AssertionError: the wheel's own, of a PostgreSQL that is still recovering
        except (AssertionError, OSError, RuntimeError, RedisStartError, subprocess.SubprocessError) as error:
            watched.failures += 1
            why = " ".join(str(error).split()) or "it is not ready"
            if watched.failures >= MOST_FAILURES:
                raise ServiceGone(
                    f"{watched.name} ended and did not start again in {MOST_FAILURES} attempts: {why}"
                ) from error
            self._say(f"{watched.name} did not start: {why}")
            return
        if address != watched.address:
            raise ServiceGone(f"{watched.name} ended and came back at another address: start the site again")
        watched.failures = 0
        self._say(f"{watched.name} is back")
