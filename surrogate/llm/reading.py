"""From a complete message to an Answer or the Failure that its stop reason stands for."""

import json
import math
from typing import Any

from anthropic.types import Message

from surrogate.llm.outcome import Answer, Failure, FailureKind, ToolCall

#: Levels of lists and objects in an answer; what is asked for has three at most.
_DEEPEST = 32


def read_message(message: Message, *, wants_json: bool) -> Answer | Failure:
    """Blocks are read by type: thinking and others may stand before the text."""
    text = "".join(block.text for block in message.content if block.type == "text")
    match message.stop_reason:
        case "refusal":
            details = message.stop_details
            category = details.category if details is not None else None
            explanation = (details.explanation or "") if details is not None else ""
            why = f" (category {category})" if category else ""
            return Failure(
                FailureKind.REFUSED,
                f"Claude declined to answer{why}{': ' + explanation[:300] if explanation else ''}",
                refusal_category=category,
                partial=text,
            )
        case "max_tokens":
            return Failure(FailureKind.TRUNCATED, "the answer was cut off at max_tokens", partial=text)
        case "model_context_window_exceeded":
            return Failure(
                FailureKind.CONTEXT_EXCEEDED, "prompt and answer do not fit the model's context", partial=text
            )
        case "pause_turn":
            return Failure(FailureKind.PAUSED, "the turn was paused too often", partial=text)
        case "end_turn" | "stop_sequence" | "tool_use":
            pass
        case other:
            # A reason this client was not written for: better no answer than half of one.
            return Failure(
                FailureKind.BROKEN_STREAM,
                f"the answer stopped for an unknown reason, {other!r}",
                partial=text,
            )
    calls = tuple(
        ToolCall(block.id, block.name, dict(block.input))
        for block in message.content
        if block.type == "tool_use"
    )
    answer = Answer(text, message.model, message.stop_reason, tool_calls=calls)
    if not wants_json or message.stop_reason == "tool_use":
        return answer
    data = _document(text)
    if data is None:
        return Failure(FailureKind.MALFORMED, "the answer is not the JSON object asked for", partial=text)
    return Answer(text, message.model, message.stop_reason, data)


def _document(text: str) -> dict[str, Any] | None:
    """The object that ``text`` is; None where it is none, or one that can't be stored: numbers that JSON does
    not have and Python reads all the same, more levels than a walk through it could bear."""
    try:
        data = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and not _is_deep(data) else None


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is no number of JSON")
    return value


def _is_deep(data: Any) -> bool:
    level = [data]
    for _ in range(_DEEPEST):
        nested = [item for item in level if isinstance(item, dict | list)]
        level = [part for item in nested for part in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return False
    return True
