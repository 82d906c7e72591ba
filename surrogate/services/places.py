"""Where what is learned of a forecaster holds: one recipe of it, one device, one task family."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, QuerySet

from surrogate.models import Forecast
from surrogate.requests import stored_spec
from surrogate.risk import Scope


@dataclass(frozen=True)
class Place:
    """Forecaster, recipe, device and task family; ``Scope`` is the same for code that knows no database."""

    name: str
    recipe: str
    device_id: int
    family: str

    def scope(self, device: str) -> Scope:
        return Scope(self.name, self.recipe, device, self.family)


@dataclass
class Record:
    """What there is to learn from in one place."""

    specs: list[str] = field(default_factory=list)  # versions of the task
    forecasts: int = 0  # whose kernel was timed afterwards


def judged() -> QuerySet[Forecast]:
    """Forecasts whose kernel was timed afterwards."""
    return Forecast.objects.filter(
        mean__isnull=False, question__evaluation__outcome__log2_ratio__isnull=False
    ).order_by()


def judged_in(place: Place, specs: Sequence[str]) -> QuerySet[Forecast]:
    """Those of one place; ``specs`` are the versions of its task."""
    return judged().filter(
        forecaster__name=place.name,
        forecaster__recipe=place.recipe,
        question__evaluation__device=place.device_id,
        question__evaluation__spec__in=specs,
    )


def records() -> dict[Place, Record]:
    """Every place with judged forecasts. One query, and one for each task version not seen before."""
    fields = ("forecaster__name", "forecaster__recipe", "question__evaluation__device")
    rows = judged().values_list(*fields, "question__evaluation__spec").annotate(number=Count("pk"))
    found: dict[Place, Record] = defaultdict(Record)
    for name, recipe, device, spec, number in rows:
        record = found[Place(name, recipe, device, stored_spec(spec).slug)]
        record.specs.append(spec)
        record.forecasts += number
    return dict(found)
