"""Downloads: made a few at a time, and handed on so that no browser opens them as part of the site."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from leaderboard.models import Submission
from leaderboard.services.errors import Busy
from leaderboard.services.turns import turn

#: What a raw report may be called: a trace for chrome://tracing or Perfetto, a report for Nsight Compute.
_NAMES = ("trace.json.gz", "report.ncu-rep.gz")


def turn_of(request: HttpRequest | Request) -> AbstractContextManager[None]:
    """The turn of whoever asks: an account, or else an address. Raises Busy when it is entered."""
    if request.user.is_authenticated:
        return turn(f"user:{request.user.pk}")
    return turn(f"address:{BaseThrottle().get_ident(cast(Request, request))}")


def download(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A page that makes a file in its turn, or answers 429 or 503 at once. The API has words of its own."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            with turn_of(request):
                return view(request, *args, **kwargs)
        except Busy as refusal:
            return HttpResponse(
                render_to_string("503.html", {"message": refusal.message}),
                status=429 if refusal.is_own else 503,
                headers={"Retry-After": str(refusal.retry_after)},
            )

    return answer


def trace_response(submission: Submission, content: bytes) -> HttpResponse:
    """A profiler's raw report, gzip."""
    profile = (submission.evaluation.result or {}).get("profile") or {}
    kind = profile.get("raw") if profile.get("raw") in _NAMES else _NAMES[0]
    return gzip_response(content, f"{submission.version.task.slug}-{submission.pk}-{kind}")


def gzip_response(content: bytes, name: str) -> HttpResponse:
    """``name`` is the site's own: it goes into a header as it is."""
    return HttpResponse(
        content,
        content_type="application/gzip",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )
