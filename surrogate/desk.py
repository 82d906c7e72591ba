"""The forecasters of one worker process: what they have been taught, and asking them all.

Quick members answer in milliseconds and are taught anew as outcomes arrive. Slow ones (language models) take
seconds. The ensemble's weights come from how the members' stored forecasts turned out, so that no slow member
is ever asked about the past.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from surrogate.contract.repeats import NOTHING_KNOWN, Repeats
from surrogate.contract.request import ForecastRequest
from surrogate.forecasters.base import Forecaster, LearningForecaster
from surrogate.forecasters.registry import build
from surrogate.history import History
from surrogate.inquiry import Inquiry, Taught
from surrogate.models import Outcome
from surrogate.requests import known_outcomes
from surrogate.services.calibrations import EVERY, newest_calibrations
from surrogate.services.guarantees import newest_guarantees
from surrogate.weights import weights_of

logger = logging.getLogger(__name__)

QUICK = ("prior", "roofline", "neighbours", "statistical")
#: Weight before anything is known here. The untrained local model is worse than the prior on public data
#: (tests/benchmarks/README.md), so that it may only show what it is worth on this site.
_FIRST_WEIGHT = {
    "prior": 0.1,
    "roofline": 0.25,  # the only one that knows anything of a new site: its devices' ceilings
    "neighbours": 0.25,
    "statistical": 0.35,
    "local": 0.02,
    "anthropic": 0.5,
}
#: A slow member that counts for less is not worth a typing person's wait.
_LEAST_WEIGHT = 0.01
#: Seconds that a typing person may wait for a slow member; what is expected to take longer is not asked.
_LONGEST_WAIT = 4.0
#: How fast a slow member was is believed for so many seconds, and for so many times as long as it took: the
#: first question on a task takes longest, and a busy machine may be idle by then.
_PACE_HOLDS, _PACE_HOLDS_TIMES = 15.0, 5.0
_SHORT = 500  # characters; below it the prompt around a source takes longer than the source
#: Learning anew: when so many outcomes came, or this share of those learned from.
_FEWEST_NEW, _SHARE_NEW = 5, 0.1


class Desk:
    """Safe to ask from several threads."""

    def __init__(self) -> None:
        self._slow: dict[str, Forecaster] = {}
        self._lock = threading.Lock()  # one round of learning at a time
        self._taught: Taught | None = None
        self._known = 0  # outcomes there were at the last look
        self._judged: int | None = None  # and when the record was last judged
        self._pace: dict[str, tuple[float, float]] = {}  # slow member → seconds a character, until when

    @property
    def names(self) -> tuple[str, ...]:
        return (*QUICK, *self._slow)

    @property
    def slow_names(self) -> tuple[str, ...]:
        return tuple(self._slow)

    @property
    def taught(self) -> Taught | None:
        return self._taught

    def versions(self) -> dict[str, str]:
        """Of every member that is ready."""
        taught = self._taught
        members = (*(taught.members if taught else ()), *self._slow.values())
        return {member.name: member.version for member in members}

    def add(self, name: str, forecaster: Forecaster) -> None:
        """A slow member that is ready. The ensemble's weights are looked up again."""
        self._slow[name] = forecaster
        self.learn(anew=True)

    def learn(self, *, anew: bool = False) -> bool:
        """Teach the quick members what was measured since; whether there was enough to."""
        with self._lock:
            known = self._known = Outcome.objects.count()
            taught = self._taught
            if taught is not None and not anew:
                new = abs(known - taught.outcomes)  # an account that goes takes its outcomes along
                if new < max(_FEWEST_NEW, _SHARE_NEW * taught.outcomes):
                    self._taught = replace(
                        taught, calibrations=newest_calibrations(), guarantees=newest_guarantees()
                    )
                    return False
            outcomes = known_outcomes()
            members = tuple(build(name) for name in QUICK)
            for member in members:
                if isinstance(member, LearningForecaster):
                    member.fit(outcomes)
            names = self.names
            first = {name: _FIRST_WEIGHT.get(name, 0.05) for name in names}
            self._taught = Taught(
                History(outcomes),
                members,
                weights_of(names, first),
                newest_calibrations(),
                newest_guarantees(),
                known,
            )
            logger.info("learned from %d outcomes; weights %s", len(outcomes), self._taught.weights)
            return True

    def is_record_new(self) -> bool:
        """Whether ``EVERY`` outcomes came since this was last true, by the last look of ``learn``.

        Far fewer than teach the members anew where much is known: calibrations are of one place each, which
        may have most of what is new.
        """
        if self._judged is not None and abs(self._known - self._judged) < EVERY:
            return False
        self._judged = self._known
        return True

    def inquire(self, request: ForecastRequest, device_id: int, repeats: Repeats = NOTHING_KNOWN) -> Inquiry:
        """Ask the quick members. ``repeats``: earlier runs of the very kernel."""
        taught = self._taught
        if taught is None:
            self.learn()
            taught = self._taught
            assert taught is not None  # noqa: S101 - learn makes it
        return Inquiry(taught, dict(self._slow), request, device_id, repeats)

    def ask_slow(
        self,
        inquiry: Inquiry,
        names: Sequence[str],
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Ask these slow members too; how fast they were for the length of the text is remembered."""
        for name, seconds in inquiry.ask_slow(names, should_stop).items():
            self._pace[name] = (
                seconds / max(inquiry.characters, _SHORT),
                time.monotonic() + max(_PACE_HOLDS, _PACE_HOLDS_TIMES * seconds),
            )

    def worth_waiting_for(self, names: Sequence[str], characters: int) -> list[str]:
        """Those of the slow members that carry weight enough to be asked about a text of so many characters
        while somebody types, and that will probably answer soon enough."""
        taught = self._taught
        if taught is None:
            return []
        return [
            name
            for name in names
            if name in self._slow
            and taught.weights.of.get(name, 0) >= _LEAST_WEIGHT
            and self._expected(name, characters) <= _LONGEST_WAIT
        ]

    def _expected(self, name: str, characters: int) -> float:
        """Seconds; 0 where nothing is known, so that it is tried."""
        pace, until = self._pace.get(name, (0.0, 0.0))
        return pace * max(characters, _SHORT) if time.monotonic() < until else 0.0
