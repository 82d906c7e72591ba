"""What the API refuses with a 400, as far as this project could break it."""

import json
from typing import Any

#: Models that take no sampling parameters, prefill, forced tools or thinking budgets.
STRICT_MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1", "claude-haiku-5-5")
KNOWN_MODELS = (*STRICT_MODELS, "claude-opus-5", "claude-sonnet-5", "claude-haiku-4-5")
MAX_BODY = 32 * 2**20
_UNSUPPORTED_IN_SCHEMA = ("minimum", "maximum", "minLength", "maxLength", "multipleOf", "maxItems")


def complaint(body: Any, *, continues: bool) -> str:
    """Why the API would refuse this request body; empty when it would not.

    ``continues`` says that the last message is a paused turn handed back, which is no prefill.
    """
    if not isinstance(body, dict):
        return "the body is no JSON object"
    for key in ("model", "max_tokens", "messages"):
        if key not in body:
            return f"{key}: Field required"
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        return "max_tokens: Input should be greater than or equal to 1"
    messages = body["messages"]
    if not isinstance(messages, list) or not messages or messages[0].get("role") != "user":
        return "messages: first message must use the user role"
    if any(not message.get("content") for message in messages):
        return "messages: text content blocks must be non-empty"
    marks = json.dumps(body).count('"cache_control"')
    if marks > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    if body["model"] in STRICT_MODELS:
        for key in ("temperature", "top_p", "top_k"):
            if key in body:
                return f"{key}: not supported by this model"
        if (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
            return "tool_choice: forcing a tool is not supported by this model"
        if (body.get("thinking") or {}).get("type") in ("enabled", "disabled"):
            return "thinking: this model decides by itself"
        if messages[-1].get("role") == "assistant" and not continues:
            return "This model does not support assistant message prefill."
    output_format = (body.get("output_config") or {}).get("format")
    if output_format is not None:
        if output_format.get("type") != "json_schema":
            return "output_config.format.type: must be json_schema"
        return _schema_complaint(output_format.get("schema"), "output_config.format.schema")
    return ""


def _schema_complaint(schema: Any, where: str) -> str:
    if not isinstance(schema, dict):
        return f"{where}: must be an object"
    for key in _UNSUPPORTED_IN_SCHEMA:
        if key in schema:
            return f"{where}: property '{key}' is not supported"
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return f"{where}: additionalProperties must be explicitly set to false"
        for name, inner in schema.get("properties", {}).items():
            if found := _schema_complaint(inner, f"{where}.{name}"):
                return found
    if "items" in schema:
        return _schema_complaint(schema["items"], f"{where}[]")
    return ""
