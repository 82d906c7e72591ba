"""What all pages of searches share."""

import math
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from leaderboard.numbers import whole_number
from leaderboard.search.models import SearchRun
from leaderboard.search.selectors import runs
from leaderboard.search.selectors.candidates import BadQuery, Query
from leaderboard.search.services.owners import require_owner
from leaderboard.services.errors import Refusal


def visible(request: HttpRequest, run_id: UUID) -> SearchRun:
    """Raises Http404."""
    try:
        return runs.get_visible(run_id, request.user)
    except SearchRun.DoesNotExist:
        raise Http404("There is no such search, or it is not yours to see.") from None


def query_of(request: HttpRequest) -> Query:
    """Raises Http404."""
    try:
        return Query.of(request.GET)
    except BadQuery as error:
        raise Http404(str(error)) from None


def is_owner(request: HttpRequest, run: SearchRun) -> bool:
    """Whether who looks may steer the run."""
    user = person(request)
    if user is None:
        return False
    try:
        require_owner(run, user)
    except PermissionDenied:
        return False
    return True


def person(request: HttpRequest) -> User | None:
    return request.user if request.user.is_authenticated else None


def since_of(request: HttpRequest) -> int:
    """Raises Http404."""
    number = whole_number(request.GET.get("since", "0"))
    if number is None:
        raise Http404("'since' must be a whole number.")
    return number


def after_of(request: HttpRequest) -> int | None:
    """Raises Http404."""
    text = request.GET.get("after")
    number = None if text is None else whole_number(text)
    if text is not None and number is None:
        raise Http404("'after' must be a whole number.")
    return number


def whole(form: Any, name: str, most: int = 10**12) -> int:
    """A whole number of a form; nothing counts as 0. Raises Refusal limits_wrong."""
    text = form.get(name, "").strip()
    if text == "":
        return 0
    number = whole_number(text)
    if number is None or number > most:
        raise Refusal("limits_wrong", f"{label_of(name)} must be a whole number, not {text[:20]!r}.")
    return number


def amount(form: Any, name: str) -> float:
    """A number of a form that is not below 0; nothing counts as 0. Raises Refusal limits_wrong."""
    text = form.get(name, "").strip()
    try:
        value = float(text or "0") if text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1e12:
        raise Refusal("limits_wrong", f"{label_of(name)} must be a number of at least 0, not {text[:20]!r}.")
    return value


def label_of(name: str) -> str:
    return name.replace("_", " ").capitalize()
