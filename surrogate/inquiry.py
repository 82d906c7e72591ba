"""One question to the forecasters: the quick ones answer at once, slow ones may be asked after.

Nobody is asked twice, and all of it is answered by what the desk was taught when the question came, so that
no forecast mixes two rounds of learning.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.contract.repeats import NOTHING_KNOWN, Repeats
from surrogate.contract.request import ForecastRequest
from surrogate.failures import place_of
from surrogate.forecasters.base import Forecaster
from surrogate.forecasters.ensemble import EnsembleForecaster
from surrogate.forecasters.repeats import with_repeats
from surrogate.history import History
from surrogate.models import CalibrationVersion, GuaranteeVersion, Outcome
from surrogate.services.answers import Given, with_latency
from surrogate.services.calibrations import recalibrated
from surrogate.services.places import Place
from surrogate.services.versions import recipe_of
from surrogate.visibility import is_public
from surrogate.weights import Weights

logger = logging.getLogger(__name__)

#: The forecaster that people are shown.
SHOWN = "ensemble"
FAILED = "The forecaster failed; the operator finds the reason in the log."
GONE = "Nobody waits for it any more."
NOT_ASKED = "It was not asked."


@dataclass(frozen=True)
class Taught:
    """One round of learning."""

    history: History
    members: tuple[Forecaster, ...]  # the quick ones
    weights: Weights
    calibrations: Mapping[Place, CalibrationVersion]
    guarantees: Mapping[Place, GuaranteeVersion]
    outcomes: int  # there were when it was taught


class Inquiry:
    """``repeats`` is what is known of the very kernel: the members do not see it, whose record is about
    kernels that are new."""

    def __init__(
        self,
        taught: Taught,
        slow: Mapping[str, Forecaster],
        request: ForecastRequest,
        device_id: int,
        repeats: Repeats = NOTHING_KNOWN,
    ) -> None:
        self._taught = taught
        self._slow = slow
        self._request = taught.history.attach(request)
        self._device_id = device_id
        self._repeats = repeats
        self._said: dict[str, Forecast | Abstention] = {}
        for member in taught.members:
            self._said[member.name], _ = _asked(member, self._request)

    @property
    def characters(self) -> int:
        return len(self._request.kernel.source)

    def ask_slow(
        self, names: Sequence[str], should_stop: Callable[[], bool] = lambda: False
    ) -> dict[str, float]:
        """Ask these, one after the other; seconds that each took. Those that are not asked any more because
        ``should_stop`` said so abstain."""
        took: dict[str, float] = {}
        for name in names:
            member = self._slow.get(name)
            if member is None:
                continue
            if should_stop():
                self._said[name] = Abstention(AbstentionReason.CANCELLED, GONE, name, member.version)
            else:
                self._said[name], took[name] = _asked(member, _told(member.name, self._request))
        return took

    def answers(self) -> dict[str, Given]:
        """What every member said so far, and the ensemble of them under SHOWN."""
        members = [*self._taught.members, *self._slow.values()]
        weights = self._taught.weights
        ensemble = EnsembleForecaster(members)
        ensemble.use_weights([weights.of.get(member.name, 0.0) for member in members], weights.learned_from)
        parts = [
            self._said.get(member.name)
            or Abstention(AbstentionReason.UNAVAILABLE, NOT_ASKED, member.name, "")
            for member in members
        ]
        said = {**self._said, SHOWN: with_repeats(ensemble.combine(parts), self._repeats)}
        return {name: self._given(answer) for name, answer in said.items()}

    def _given(self, answer: Forecast | Abstention) -> Given:
        if isinstance(answer, Abstention):
            return Given(answer)
        recipe = recipe_of(answer.forecaster, answer.version)
        place = Place(answer.forecaster, recipe, self._device_id, self._request.task.family)
        guarantee, row = self._taught.guarantees.get(place), self._taught.calibrations.get(place)
        if row is None:
            return Given(answer, answer.probabilities, guarantee=guarantee)
        return Given(recalibrated(answer, row), answer.probabilities, row, guarantee)


def _told(name: str, request: ForecastRequest) -> ForecastRequest:
    """What a language model is told of other kernels: only what is public, for a prompt may go to another
    company, and what is said of it is shown to whoever entered this kernel. Asked now, as what was public may
    be private again.
    """
    if name == "local":
        # Each neighbour is a source to read: seconds more on a CPU, for a model too small to use them.
        return replace(request, neighbours=())
    keys = [item.key for item in request.neighbours if item.key is not None]
    public = set(Outcome.objects.filter(is_public(), pk__in=keys).values_list("pk", flat=True))
    kept = tuple(item for item in request.neighbours if item.key is None or item.key in public)
    return replace(request, neighbours=kept)


def _asked(member: Forecaster, request: ForecastRequest) -> tuple[Forecast | Abstention, float]:
    """The answer and the seconds it took."""
    begun = time.perf_counter()
    try:
        (answer,) = member.forecast([request])
    except Exception as error:  # noqa: BLE001 forecasters are many
        # A forecaster must not raise; one that does must not take the others' answers with it. What it says
        # may quote a text that somebody is typing.
        logger.error("forecaster %s failed: %s", member.name, place_of(error))  # noqa: TRY400
        answer = Abstention(AbstentionReason.UNAVAILABLE, FAILED, member.name, member.version)
    seconds = time.perf_counter() - begun
    return with_latency(answer, seconds), seconds
