"""The TaskSpec of a stored version."""

from collections.abc import Iterable

from leaderboard.models import TaskVersion
from runners.contract.spec import TaskSpec
from runners.models import SpecDocument

_MOST_KEPT = 256
#: By digest, whose content never changes, the oldest first. No lru_cache: one query could not fill it.
_kept: dict[str, TaskSpec] = {}


def spec_of(version: TaskVersion) -> TaskSpec:
    """The contract of ``version``; kept in memory."""
    return stored_spec(version.spec_id)


def stored_spec(digest: str) -> TaskSpec:
    """Raises SpecDocument.DoesNotExist."""
    found = _kept.get(digest)
    return found if found is not None else _keep(SpecDocument.objects.get(pk=digest))


def keep_specs(digests: Iterable[str]) -> None:
    """Read what is not in memory yet: one query for all of them, or none."""
    missing = [digest for digest in digests if digest not in _kept]
    for document in SpecDocument.objects.filter(pk__in=missing) if missing else ():
        _keep(document)


def _keep(document: SpecDocument) -> TaskSpec:
    while len(_kept) >= _MOST_KEPT:
        # Another thread may have taken the same one away.
        _kept.pop(next(iter(_kept), ""), None)
    spec = _kept[document.pk] = TaskSpec.from_document(document.document)
    return spec
