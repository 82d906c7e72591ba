"""One shape for every error: ``{"error": {"code", "message", "line", "field"}}``."""

import logging
from typing import Any

from django.core.exceptions import (
    ObjectDoesNotExist,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.core.signals import got_request_exception
from django.db import OperationalError
from django.http import Http404, UnreadablePostError
from psycopg_pool import PoolTimeout
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from leaderboard.services.errors import Busy, Refusal

logger = logging.getLogger(__name__)

#: HTTP status of refusals that are no mistake in the request itself.
_STATUS = {
    "over_budget": status.HTTP_429_TOO_MANY_REQUESTS,
    "too_many_queued": status.HTTP_429_TOO_MANY_REQUESTS,
    "too_many_checks": status.HTTP_429_TOO_MANY_REQUESTS,
    "too_fast": status.HTTP_429_TOO_MANY_REQUESTS,
    "site_budget_spent": status.HTTP_429_TOO_MANY_REQUESTS,
    "site_read_only": status.HTTP_503_SERVICE_UNAVAILABLE,
    "task_closed": status.HTTP_409_CONFLICT,
    "device_closed": status.HTTP_409_CONFLICT,
    "tier_too_low": status.HTTP_409_CONFLICT,
    "too_many_runs": status.HTTP_429_TOO_MANY_REQUESTS,
    "run_changed": status.HTTP_409_CONFLICT,
    "run_over": status.HTTP_409_CONFLICT,
    "run_going": status.HTTP_409_CONFLICT,
    "entered_before": status.HTTP_409_CONFLICT,
    "pool_large": status.HTTP_409_CONFLICT,
    "nothing_found": status.HTTP_409_CONFLICT,
    "over_measurements": status.HTTP_429_TOO_MANY_REQUESTS,
    "over_money": status.HTTP_429_TOO_MANY_REQUESTS,
    "one_download": status.HTTP_429_TOO_MANY_REQUESTS,
    "downloads_busy": status.HTTP_503_SERVICE_UNAVAILABLE,
}


def handler(exception: Exception, context: dict[str, Any]) -> Response:
    """DRF's EXCEPTION_HANDLER."""
    response = _response(exception, context)
    set_rollback()
    return response


def error_body(
    code: str, message: str, *, line: int | None = None, field: str | None = None
) -> dict[str, dict[str, Any]]:
    return {"error": {"code": code, "message": message, "line": line, "field": field}}


def _response(exception: Exception, context: dict[str, Any]) -> Response:
    match exception:
        case Refusal():
            body = error_body(exception.rule, exception.message, line=exception.line, field=exception.field)
            headers = {"Retry-After": str(exception.retry_after)} if isinstance(exception, Busy) else {}
            code = _STATUS.get(exception.rule, status.HTTP_400_BAD_REQUEST)
            return Response(body, status=code, headers=headers)
        case exceptions.ValidationError():
            complaints = _complaints(exception.detail)
            message = " ".join(message for _, message in complaints)
            body = error_body("invalid", message, field=complaints[0][0])
            return Response(body, status=exception.status_code)
        case exceptions.APIException():
            return _api_response(exception)
        case ObjectDoesNotExist() | Http404():
            return Response(error_body("not_found", "There is no such thing here."), status=404)
        case RequestDataTooBig():
            return Response(error_body("too_large", "The request's body is too large."), status=413)
        case SuspiciousOperation() | UnreadablePostError():
            return Response(error_body("bad_request", "The request can't be read."), status=400)
        case PermissionDenied():
            message = str(exception) or "You may not do this."
            return Response(error_body("permission_denied", message), status=403)
        case OperationalError() if isinstance(exception.__cause__, PoolTimeout):
            body = error_body("busy", "KernelHub is busy at the moment; please try again in a few seconds.")
            return Response(body, status=503, headers={"Retry-After": "5"})
    # Ours. Whoever watches for failures (logs, test client, error trackers) still hears of it.
    logger.error("API request failed", exc_info=exception)
    got_request_exception.send(sender=None, request=context.get("request"))
    return Response(error_body("internal_error", "KernelHub failed, not your request."), status=500)


def _api_response(exception: exceptions.APIException) -> Response:
    headers = {}
    if challenge := getattr(exception, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if (wait := getattr(exception, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait) + 1)
    code, message = exception.get_codes(), str(exception.detail)
    return Response(error_body(str(code), message), status=exception.status_code, headers=headers)


def _complaints(detail: Any) -> list[tuple[str | None, str]]:
    """The first complaint of each field of the body, of which there is one at least."""
    if isinstance(detail, dict) and detail:
        return [_first({name: inner}) for name, inner in detail.items()]
    return [_first(detail)]


def _first(detail: Any, field: str | None = None) -> tuple[str | None, str]:
    """The first complaint of a nested error and the field it is about."""
    while isinstance(detail, (dict, list)) and detail:
        if isinstance(detail, dict):
            name, detail = next(iter(detail.items()))
            # Of a list the field is named, and not the place in it.
            field = field if name == "non_field_errors" or isinstance(name, int) else str(name)
        else:
            detail = detail[0]
    return field, f"{field}: {detail}" if field else str(detail)
