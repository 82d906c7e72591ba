"""The forecasters of one worker process: what they have been taught, and asking them all.

Quick members answer in milliseconds and are taught anew as outcomes arrive. Slow ones (language models) take
seconds. The ensemble's weights come from how the members' stored forecasts turned out, so that no slow member
is ever asked about the past.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from runners.models import Device
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.contract.repeats import NOTHING_KNOWN, Repeats
from surrogate.contract.request import ForecastRequest
from surrogate.failures import place_of
from surrogate.forecasters.base import Forecaster, LearningForecaster
from surrogate.forecasters.ensemble import EnsembleForecaster
from surrogate.forecasters.registry import build
from surrogate.forecasters.repeats import with_repeats
from surrogate.history import History
from surrogate.models import CalibrationVersion, Outcome
from surrogate.requests import known_outcomes
from surrogate.services.answers import Given, with_latency
from surrogate.services.calibrations import Place, newest_calibrations, recalibrated
from surrogate.services.versions import recipe_of
from surrogate.weights import Weights, weights_of

logger = logging.getLogger(__name__)

#: The forecaster that people are shown.
SHOWN = "ensemble"
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


@dataclass(frozen=True)
class Taught:
    """One round of learning, replaced as a whole so that no forecast mixes two."""

    history: History
    members: tuple[Forecaster, ...]
    weights: Weights
    calibrations: dict[Place, CalibrationVersion]
    outcomes: int  # there were when it was taught


class Desk:
    """Safe to ask from several threads."""

    def __init__(self) -> None:
        self._slow: dict[str, Forecaster] = {}
        self._lock = threading.Lock()  # one round of learning at a time
        self._taught: Taught | None = None
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
            known = Outcome.objects.count()
            taught = self._taught
            if taught is not None and not anew:
                new = known - taught.outcomes
                if new < max(_FEWEST_NEW, _SHARE_NEW * taught.outcomes):
                    self._taught = replace(taught, calibrations=newest_calibrations())
                    return False
            outcomes = known_outcomes()
            members = tuple(build(name) for name in QUICK)
            for member in members:
                if isinstance(member, LearningForecaster):
                    member.fit(outcomes)
            names = self.names
            first = {name: _FIRST_WEIGHT.get(name, 0.05) for name in names}
            self._taught = Taught(
                History(outcomes), members, weights_of(names, first), newest_calibrations(), known
            )
            logger.info("learned from %d outcomes; weights %s", len(outcomes), self._taught.weights)
            return True

    def answers(
        self,
        request: ForecastRequest,
        device: Device,
        *,
        slow: Sequence[str] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
        repeats: Repeats = NOTHING_KNOWN,
    ) -> dict[str, Given]:
        """What every member says, and the ensemble of them under SHOWN.

        ``slow`` names the slow members to ask, by default all. Those that are not asked any more because
        ``should_stop`` said so abstain. ``repeats`` is what is known of the very kernel: the members do not
        see it, whose record is about kernels that are new.
        """
        taught = self._taught
        if taught is None:
            self.learn()
            taught = self._taught
            assert taught is not None  # noqa: S101 - learn makes it
        known = taught.history.attach(request)
        wanted = list(self._slow if slow is None else slow)
        given: dict[str, Forecast | Abstention] = {}
        for member in (*taught.members, *(self._slow[name] for name in wanted if name in self._slow)):
            if member.name in self._slow and should_stop():
                given[member.name] = Abstention(
                    AbstentionReason.CANCELLED, "Nobody waits for it any more.", member.name, member.version
                )
                continue
            given[member.name] = self._asked(member, known)
        members = [*taught.members, *self._slow.values()]
        ensemble = EnsembleForecaster(members)
        ensemble.use_weights(
            [taught.weights.of.get(member.name, 0.0) for member in members], taught.weights.learned_from
        )
        missing = "It was not asked."
        parts = [
            given.get(item.name) or Abstention(AbstentionReason.UNAVAILABLE, missing, item.name, "")
            for item in members
        ]
        given[SHOWN] = with_repeats(ensemble.combine(parts), repeats)
        family = request.task.family
        return {name: _calibrated(item, taught, device, family) for name, item in given.items()}

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

    def _asked(self, member: Forecaster, request: ForecastRequest) -> Forecast | Abstention:
        if member.name == "local":
            # Each neighbour is a source to read: seconds more on a CPU, for a model too small to use them.
            request = replace(request, neighbours=())
        begun = time.perf_counter()
        try:
            (answer,) = member.forecast([request])
        except Exception as error:  # noqa: BLE001 forecasters are many
            # A forecaster must not raise; one that does must not take the others' answers with it. What it
            # says may quote a text that somebody is typing.
            logger.error("forecaster %s failed: %s", member.name, place_of(error))  # noqa: TRY400
            message = "The forecaster failed; the operator finds the reason in the log."
            answer = Abstention(AbstentionReason.UNAVAILABLE, message, member.name, member.version)
        seconds = time.perf_counter() - begun
        if member.name in self._slow:
            self._pace[member.name] = (
                seconds / max(len(request.kernel.source), _SHORT),
                time.monotonic() + max(_PACE_HOLDS, _PACE_HOLDS_TIMES * seconds),
            )
        return with_latency(answer, seconds)


def _calibrated(answer: Forecast | Abstention, taught: Taught, device: Device, family: str) -> Given:
    if isinstance(answer, Abstention):
        return Given(answer)
    recipe = recipe_of(answer.forecaster, answer.version)
    row = taught.calibrations.get(Place(answer.forecaster, recipe, device.pk, family))
    if row is None:
        return Given(answer, answer.probabilities)
    return Given(recalibrated(answer, row), answer.probabilities, row)
