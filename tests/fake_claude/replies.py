"""What the server may be told to say. A Reply is a message or an error, and how its delivery goes wrong."""

import json
import threading
from dataclasses import dataclass, field, replace
from typing import Any, Literal

#: How the delivery of a reply fails. Points "within" are after the first text piece of a stream.
Fault = Literal[
    "",
    "reset",  # the connection is reset before any response
    "silent",  # the request is read and never answered
    "reset_within",
    "cut_within",  # the stream ends cleanly but too early
    "stall_within",  # nothing more comes
    "pings_within",  # nothing but pings comes
    "garbage_within",  # an event that is not JSON
    "error_within",  # an error event, as ``error_type`` says
]

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Reply:
    """One scripted response; ``status`` 200 sends ``content``, any other an error."""

    status: int = 200
    content: tuple[dict[str, Any], ...] = ()
    stop_reason: str = "end_turn"
    stop_details: dict[str, Any] | None = None
    model: str = ""  # the model that answered; the requested one when empty
    output_tokens: int | None = None  # counted from the content when None
    thinking_tokens: int = 0
    error_type: str = ""
    error_code: str = ""
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    raw_body: bytes | None = None  # sent as it is, e.g. a proxy's page
    fault: Fault = ""
    until: threading.Event | None = None  # the model thinks until it is set

    def failing(self, fault: Fault, error_type: str = "") -> "Reply":
        """The same reply, delivered badly."""
        return replace(self, fault=fault, error_type=error_type)


def answer(text_or_data: str | dict[str, Any], **changes: Any) -> Reply:
    """A complete answer: text, or an object as the JSON of a structured output."""
    text = text_or_data if isinstance(text_or_data, str) else json.dumps(text_or_data)
    return replace(Reply(content=({"type": "text", "text": text},)), **changes)


def stopped(reason: str, text: str = "half an ans") -> Reply:
    """An answer that ended for ``reason``: max_tokens, model_context_window_exceeded, …"""
    return answer(text, stop_reason=reason)


def refusal(category: str | None = None, explanation: str | None = None) -> Reply:
    details = {"type": "refusal", "category": category, "explanation": explanation}
    return Reply(stop_reason="refusal", stop_details=details, output_tokens=1)


def paused(text: str = "so far") -> Reply:
    return answer(text, stop_reason="pause_turn")


def tool_use(name: str, arguments: dict[str, Any]) -> Reply:
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}
    return Reply(content=(block,), stop_reason="tool_use")


def error(
    status: int, message: str = "", *, code: str = "", type_: str = "", headers: dict[str, str] | None = None
) -> Reply:
    """An HTTP error in the API's own shape."""
    return Reply(
        status=status,
        error_type=type_ or ERROR_TYPES.get(status, "api_error"),
        error_code=code,
        message=message or f"scripted error {status}",
        headers=headers or {},
    )
