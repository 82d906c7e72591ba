"""Rows of the database as requests and outcomes of the forecast contract."""

from functools import lru_cache

from django.db.models.functions import Length

from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind
from runners.models import Device, Kernel, SpecDocument
from surrogate.contract.request import Anchor as RequestAnchor
from surrogate.contract.request import DeviceFacts, ForecastRequest, KernelText, TaskFacts
from surrogate.forecasters.base import Outcome as KnownOutcome
from surrogate.models import Anchor, Outcome

#: Outcomes that forecasters learn from; the newest are taken.
MOST_OUTCOMES = 3000
#: Longer sources are forecast but not learned from: so many of a megabyte each would fill the memory.
MOST_CHARACTERS = 65_536


def request_for(
    *, language: str, source: str, spec: TaskSpec, device: Device, anchor: Anchor
) -> ForecastRequest:
    """The question how fast ``source`` is on ``device``; ``anchor`` has its kernel loaded."""
    return ForecastRequest(
        TaskFacts.of_spec(spec, DeviceKind(device.kind)),
        KernelText(language, source),
        device_facts(device),
        anchor_of(anchor, anchor.evaluation.kernel),
    )


def device_facts(device: Device) -> DeviceFacts:
    return DeviceFacts(device.slug, device.kind, device.name, device.facts, device.ceilings)


def anchor_of(anchor: Anchor, kernel: Kernel) -> RequestAnchor:
    return RequestAnchor(anchor.name, kernel.language, kernel.source, anchor.case_seconds)


def known_outcomes(limit: int = MOST_OUTCOMES) -> list[KnownOutcome]:
    """The newest outcomes, oldest first. A kernel that was only checked teaches nothing and is left out."""
    rows = (
        Outcome.objects.exclude(is_correct=True, log2_ratio=None)
        .annotate(size=Length("evaluation__kernel__source"))
        .filter(size__lte=MOST_CHARACTERS)
        .select_related("evaluation__kernel", "evaluation__device", "anchor__evaluation__kernel")
        .defer(
            "evaluation__result",
            "evaluation__progress",
            "anchor__evaluation__result",
            "anchor__evaluation__progress",
        )
        .order_by("-created_at", "-pk")[:limit]
    )
    return [_known(row) for row in reversed(rows)]


def _known(row: Outcome) -> KnownOutcome:
    evaluation = row.evaluation
    request = request_for(
        language=evaluation.kernel.language,
        source=evaluation.kernel.source,
        spec=stored_spec(evaluation.spec_id),
        device=evaluation.device,
        anchor=row.anchor,
    )
    return KnownOutcome(request, row.log2_ratio, row.noise, row.pk)


@lru_cache(maxsize=256)
def stored_spec(digest: str) -> TaskSpec:
    """The contract of this digest, whose content never changes. Raises SpecDocument.DoesNotExist."""
    return TaskSpec.from_document(SpecDocument.objects.get(pk=digest).document)
