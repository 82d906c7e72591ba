"""From a complete message to an Answer or the Failure that its stop reason stands for."""

import json

from anthropic.types import Message

from surrogate.llm.outcome import Answer, Failure, FailureKind, ToolCall


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
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        return Failure(FailureKind.MALFORMED, "the answer is not the JSON object asked for", partial=text)
    return Answer(text, message.model, message.stop_reason, data)
