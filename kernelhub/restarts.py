"""When to start again what has ended: soon, then with growing pauses while it keeps ending."""

from dataclasses import dataclass

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_LONG_LIFE = 60.0  # seconds after which an end is no repetition of the one before


@dataclass
class Restarts:
    """Of one process. Times are seconds of ``time.monotonic``."""

    started: float = 0.0
    pause: float = _FIRST_PAUSE
    _next: float | None = None

    def plan(self, now: float) -> bool:
        """It has ended. Whether that is news: ``pause`` is then how long it stays so."""
        if self._next is not None:
            return False
        lived_long = now - self.started > _LONG_LIFE
        self.pause = _FIRST_PAUSE if lived_long else min(self.pause * 2, _LONGEST_PAUSE)
        self._next = now + self.pause
        return True

    def due(self, now: float) -> bool:
        return self._next is not None and now >= self._next

    def begin(self, now: float) -> None:
        """A start is made now."""
        self.started, self._next = now, None
