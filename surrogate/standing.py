"""What the record of the shown forecasts allows, task by task: true confidence, guaranteed skips. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from surrogate.calibration import MINIMUM
from surrogate.models import CalibrationVersion, GuaranteeVersion
from surrogate.selectors.record import Row
from surrogate.services.guarantees import LEAST


@dataclass(frozen=True)
class Standing:
    """One task and one recipe of a forecaster, on one device."""

    family: str
    name: str
    recipe: str
    judged: int  # forecasts whose kernel was timed afterwards
    calibration: CalibrationVersion | None
    guarantee: GuaranteeVersion | None

    @property
    def lacks_for_calibration(self) -> int:
        return max(0, MINIMUM - self.judged)

    @property
    def lacks_for_guarantee(self) -> int:
        """At least so many: near copies count once, and those forecast to win not at all."""
        return max(0, LEAST - self.judged)


def standings(
    judged: Iterable[Row],
    families: Mapping[str, str],
    calibrations: Iterable[CalibrationVersion],
    guarantees: Iterable[GuaranteeVersion],
) -> list[Standing]:
    """The best known task first; ``families`` tells the task of a version."""
    counts = Counter((families[row.spec], row.name, row.recipe) for row in judged)
    corrected = {(item.family, item.name, item.recipe): item for item in calibrations}
    promised = {(item.family, item.name, item.recipe): item for item in guarantees}
    return [
        Standing(*place, number, corrected.get(place), promised.get(place))
        for place, number in counts.most_common()
    ]
