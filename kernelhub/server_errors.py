"""What a visitor is told when a request fails: that the site is busy, where that is all that is wrong."""

import sys

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults
from psycopg_pool import PoolTimeout

RETRY_AFTER_SECONDS = 5
BUSY = "KernelHub is busy at the moment; nothing was changed. Please try again in a few seconds."


def is_busy(error: BaseException | None) -> bool:
    """Whether ``error`` says that no database connection became free in time."""
    return isinstance(error, PoolTimeout) or (
        isinstance(error, OperationalError) and isinstance(error.__cause__, PoolTimeout)
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, called while the exception is being handled."""
    if not is_busy(sys.exc_info()[1]):
        return defaults.server_error(request)
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    if request.path.startswith("/api/"):
        error = {"code": "busy", "message": BUSY, "line": None, "field": None}
        return JsonResponse({"error": error}, status=503, headers=headers)
    # No context: what fills it would ask the database.
    return HttpResponse(render_to_string("503.html"), status=503, headers=headers)
