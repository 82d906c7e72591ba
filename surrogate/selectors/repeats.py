"""Earlier runs of the very source that is asked about."""

import math
from statistics import median

from runners.contract.vocabulary import Language
from runners.services.kernels import kernel_digest
from surrogate.contract.repeats import Repeats
from surrogate.models import Anchor, Outcome
from surrogate.visibility import is_readable

#: The newest runs count.
_MOST = 20


def repeats_of(*, language: str, source: str, anchor: Anchor, asker: int | None) -> Repeats:
    """Of ``source`` under the task version of ``anchor``; times are relative to it. One query.

    Only runs that the user ``asker`` may read: such a forecast is as good as the measurement.
    """
    digest = kernel_digest(Language(language), source)
    rows = list(
        Outcome.objects.filter(
            is_readable(asker), evaluation__kernel=digest, evaluation__spec_id=anchor.spec_id
        )
        .order_by("-created_at", "-pk")
        .values_list("evaluation__device_id", "is_correct", "seconds", "noise")[:_MOST]
    )
    if anchor.evaluation.kernel_id == digest:
        rows.append((anchor.device_id, True, anchor.seconds, anchor.noise))
    here = [row for row in rows if row[0] == anchor.device_id]
    elsewhere = [row for row in rows if row[0] != anchor.device_id]
    timed = [(seconds, noise) for _, _, seconds, noise in here if seconds is not None]
    return Repeats(
        passed_here=sum(row[1] for row in here),
        failed_here=sum(not row[1] for row in here),
        passed_elsewhere=sum(row[1] for row in elsewhere),
        failed_elsewhere=sum(not row[1] for row in elsewhere),
        log2_ratios=tuple(math.log2(anchor.seconds / seconds) for seconds, _ in timed),
        noise=median(noise for _, noise in timed) if timed else 0.0,
    )
