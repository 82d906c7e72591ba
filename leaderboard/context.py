"""What every page may show."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from leaderboard.selectors.site import site_status


def site(request: HttpRequest) -> dict[str, Any]:
    """The state of the site, read only by templates that ask for it: two queries."""
    return {"site": SimpleLazyObject(site_status)}
