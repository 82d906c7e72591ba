"""Sending at most a few frames a second, and never losing the last one."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


@dataclass
class _Pending:
    last_sent: float
    waiting: Callable[[], None] | None = None
    timer: Timer | None = None
    urged: bool = False


@dataclass
class Coalescer:
    """Per key, sends at once when ``interval`` seconds have passed, else the newest one when they have.

    A frame held back replaces the one held before it: frames are doorbells, so only the newest counts. One
    that a timer is just sending may come behind an urgent or the last one: who hears it compares numbers.
    ``clock`` and ``later`` are there for tests.
    """

    interval: float
    clock: Callable[[], float] = time.monotonic
    later: "Callable[[float, Callable[[], None]], Timer] | None" = None
    _keys: dict[str, _Pending] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def offer(self, key: str, send: Callable[[], None]) -> None:
        """Send now or within the interval."""
        now = self.clock()
        with self._lock:
            self._forget_idle(now)
            pending = self._keys.get(key)
            if pending is not None and now - pending.last_sent < self.interval:
                pending.waiting = send
                if pending.timer is None:
                    wait = pending.last_sent + self.interval - now
                    pending.timer = (self.later or _later)(wait, lambda: self._flush(key))
                return
            self._keys[key] = _Pending(now, urged=pending is not None and pending.urged)
        send()

    def urgent(self, key: str, send: Callable[[], None]) -> None:
        """Send now, in place of what is held back; what comes next waits for the interval. Once for a key:
        from then on like any other.
        """
        with self._lock:
            pending = self._keys.get(key)
            urged = pending is not None and pending.urged
            if not urged:
                self._drop(key)
                self._keys[key] = _Pending(self.clock(), urged=True)
        if urged:
            self.offer(key, send)
        else:
            send()

    def final(self, key: str, send: Callable[[], None]) -> None:
        """Send now and drop whatever is held back: nothing comes after this one."""
        with self._lock:
            self._drop(key)
        send()

    def _drop(self, key: str) -> None:
        pending = self._keys.pop(key, None)
        if pending is not None and pending.timer is not None:
            pending.timer.cancel()

    def _flush(self, key: str) -> None:
        with self._lock:
            pending = self._keys.get(key)
            if pending is None or pending.waiting is None:
                return
            send, pending.waiting, pending.timer = pending.waiting, None, None
            pending.last_sent = self.clock()
        send()

    def _forget_idle(self, now: float) -> None:
        """Keys whose run ended elsewhere would stay for ever."""
        if len(self._keys) > 1000:
            for key in [k for k, p in self._keys.items() if p.timer is None and now - p.last_sent > 60]:
                del self._keys[key]


def _later(seconds: float, function: Callable[[], None]) -> Timer:
    timer = threading.Timer(seconds, function)
    timer.daemon = True
    timer.start()
    return timer
