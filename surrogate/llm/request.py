"""A request to Claude, and the parameters the API gets from it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Cache = Literal["", "5m", "1h"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True)
class TextBlock:
    """Text of a prompt. ``cache`` ends a prefix that the API keeps for that long: put stable text first."""

    text: str
    cache: Cache = ""

    def to_param(self) -> dict[str, Any]:
        param: dict[str, Any] = {"type": "text", "text": self.text}
        if self.cache:
            param["cache_control"] = {"type": "ephemeral", "ttl": self.cache}
        return param


@dataclass(frozen=True)
class Request:
    """One question, with the whole prompt in it.

    ``schema`` asks for structured output: JSON that obeys it. There are no sampling parameters, prefill or
    forced tools: current models refuse them with a 400.
    """

    system: tuple[TextBlock, ...]
    user: tuple[TextBlock, ...]
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    effort: Effort | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    purpose: str = ""  # for the ledger and the log; never sent

    def parameters(self, model: str, continued: Sequence[Any] = ()) -> dict[str, Any]:
        """Keyword arguments for the SDK. ``continued`` holds the content of turns that were paused."""
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": [block.to_param() for block in self.user]},
            *({"role": "assistant", "content": content} for content in continued),
        ]
        parameters: dict[str, Any] = {"model": model, "max_tokens": self.max_tokens, "messages": messages}
        if self.system:
            parameters["system"] = [block.to_param() for block in self.system]
        output: dict[str, Any] = {}
        if self.schema is not None:
            output["format"] = {"type": "json_schema", "schema": dict(self.schema)}
        if self.effort is not None:
            output["effort"] = self.effort
        if output:
            parameters["output_config"] = output
        if self.tools:
            parameters["tools"] = [dict(tool) for tool in self.tools]
        return parameters

    @property
    def prompt_bytes(self) -> int:
        """Size of everything that is billed as input, for an upper bound of its tokens."""
        texts = [block.text for block in (*self.system, *self.user)]
        extras = json.dumps([dict(self.schema or {}), [dict(tool) for tool in self.tools]])
        return sum(len(text.encode()) for text in texts) + len(extras)
