"""The read-only switch: submissions are refused with the reason, searches wait, everything else goes on."""

from leaderboard.models import SiteState
from leaderboard.services.errors import Refusal


def set_read_only(*, reason: str) -> None:
    """Raises ValueError without a reason: people are told it."""
    words = " ".join(reason.split())
    if not words or len(words) > 300:
        raise ValueError("give a reason of 1 to 300 characters; every visitor reads it")
    SiteState.objects.update_or_create(pk=1, defaults={"is_read_only": True, "reason": words})


def reopen() -> None:
    SiteState.objects.update_or_create(pk=1, defaults={"is_read_only": False, "reason": ""})


def is_open() -> bool:
    return not SiteState.objects.filter(pk=1, is_read_only=True).exists()


def require_open() -> None:
    """Raises Refusal site_read_only. A submission that is being stored at this moment still goes through."""
    state = SiteState.objects.filter(pk=1, is_read_only=True).first()
    if state is not None:
        why = f": {state.reason}" if state.reason else ""
        raise Refusal("site_read_only", f"The site takes no submissions at present{why.rstrip('.')}.")
