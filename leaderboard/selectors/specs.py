"""The TaskSpec of a stored version."""

from functools import lru_cache

from leaderboard.models import TaskVersion
from runners.contract.spec import TaskSpec
from runners.models import SpecDocument


def spec_of(version: TaskVersion) -> TaskSpec:
    """The contract of ``version``; kept in memory, as a digest's content never changes."""
    return stored_spec(version.spec_id)


@lru_cache(maxsize=256)
def stored_spec(digest: str) -> TaskSpec:
    """Raises SpecDocument.DoesNotExist."""
    return TaskSpec.from_document(SpecDocument.objects.get(pk=digest).document)
