"""From whatever the SDK, the network or the stream raised to one Problem of a known kind."""

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass

import anthropic
import httpx2

from surrogate.llm.outcome import FailureKind


class Stalled(Exception):
    """Nothing arrived for too long; the message says how long."""


class BrokenStream(Exception):
    """The stream ended early or holds nonsense; the message says which."""


@dataclass(frozen=True)
class Problem:
    """Why one attempt failed. ``message`` is one sentence."""

    kind: FailureKind
    message: str
    status: int | None = None
    error_code: str | None = None
    request_id: str | None = None
    retry_after: float | None = None  # seconds
    may_retry: bool | None = None  # what x-should-retry says
    sent: bool = True  # False where the request cannot have reached the API


_BY_STATUS = {
    400: FailureKind.BAD_REQUEST,
    401: FailureKind.UNAUTHORISED,
    402: FailureKind.SPEND_LIMIT,
    403: FailureKind.FORBIDDEN,
    404: FailureKind.UNKNOWN_MODEL,
    408: FailureKind.GATEWAY_TIMEOUT,
    409: FailureKind.SERVER_ERROR,
    413: FailureKind.TOO_LARGE,
    429: FailureKind.RATE_LIMITED,
    504: FailureKind.GATEWAY_TIMEOUT,
    529: FailureKind.OVERLOADED,
}
#: An error event inside a stream comes with status 200: only its type tells what it is.
_BY_TYPE = {
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "overloaded_error": FailureKind.OVERLOADED,
    "api_error": FailureKind.SERVER_ERROR,
    "timeout_error": FailureKind.GATEWAY_TIMEOUT,
    "billing_error": FailureKind.SPEND_LIMIT,
}
#: A spend limit that the account's owner set is a plain 400 without a code: its wording is all there is.
_OWN_SPEND_LIMIT = (
    "you have reached your specified api usage limits",
    "you have reached your specified workspace api usage limits",
)


def classify(error: Exception) -> Problem:
    """The Problem behind ``error``; re-raises what is neither network nor API, which is a bug of ours."""
    match error:
        case anthropic.APIStatusError():
            return _status_problem(error)
        case anthropic.APITimeoutError() | anthropic.APIConnectionError():
            cause = error.__cause__
            sent = not isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout)
            reason = f": {cause}" if cause is not None and str(cause) else ""
            what = "the connection was lost before a response" if sent else "Claude cannot be reached"
            return Problem(FailureKind.CONNECTION, f"{what}{reason}", sent=sent)
        case httpx2.HTTPError():
            return Problem(FailureKind.BROKEN_STREAM, f"the connection was lost within the answer: {error}")
        case Stalled():
            return Problem(FailureKind.STALLED, str(error))
        case BrokenStream() | anthropic.APIResponseValidationError():
            return Problem(FailureKind.BROKEN_STREAM, str(error))
        case _:
            raise error


def _status_problem(error: anthropic.APIStatusError) -> Problem:
    status, code, text = error.status_code, error.error_code, error.api_message or ""
    if status < 400:
        kind = _BY_TYPE.get(error.type or "", FailureKind.BROKEN_STREAM)
    else:
        kind = _BY_STATUS.get(status, FailureKind.SERVER_ERROR if status >= 500 else FailureKind.BAD_REQUEST)
    if (
        (code is not None and code.endswith("spend_limit_reached"))
        or error.type == "billing_error"
        or (kind == FailureKind.BAD_REQUEST and text.lower().startswith(_OWN_SPEND_LIMIT))
    ):
        kind = FailureKind.SPEND_LIMIT
    headers = error.response.headers
    said = headers.get("x-should-retry")
    words = [f"HTTP {status}" if status >= 400 else "an error within the answer", code or error.type or ""]
    return Problem(
        kind=kind,
        message=f"Claude answered {' '.join(filter(None, words))}: {text[:300] or 'no further text'}",
        status=status,
        error_code=code,
        request_id=error.request_id,
        retry_after=retry_after(headers),
        may_retry={"true": True, "false": False}.get(said or ""),
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the response asks us to wait: milliseconds, seconds or a date; None when it does not."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    text = headers.get("retry-after", "")
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
