"""The prompt cache: which tokens of a request are read from it, written to it, or neither."""

import hashlib
import json
from typing import Any

MINIMUM_TOKENS = 512  # shorter prefixes are silently not cached


def tokens_in(text: str) -> int:
    """Some count that grows with the text, as deterministic as a tokenizer."""
    return max(1, len(text.encode()) // 3)


class PromptCache:
    """Entries never expire here: what lapses after five minutes is not this server's business."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """The input half of ``usage``, remembering every marked prefix of the request."""
        blocks = _blocks(body)
        prefix, prefix_tokens, seen = hashlib.sha256(body["model"].encode()), 0, 0
        marked: list[tuple[str, int, str]] = []
        for block in blocks:
            # The mark itself is no part of the prefix.
            plain = {key: value for key, value in block.items() if key != "cache_control"}
            text = json.dumps(plain, sort_keys=True)
            prefix.update(text.encode())
            prefix_tokens += tokens_in(text)
            mark = block.get("cache_control")
            if mark and prefix_tokens >= MINIMUM_TOKENS:
                marked.append((prefix.hexdigest(), prefix_tokens, mark.get("ttl", "5m")))
        read = max((count for digest, count, _ in marked if digest in self._known), default=0)
        written = {"5m": 0, "1h": 0}
        seen = read
        for digest, count, ttl in marked:
            if count > seen:
                written[ttl] += count - seen
                seen = count
            self._known.add(digest)
        return {
            "input_tokens": prefix_tokens - seen,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written["5m"] + written["1h"],
            "cache_creation": {
                "ephemeral_5m_input_tokens": written["5m"],
                "ephemeral_1h_input_tokens": written["1h"],
            },
        }


def _blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything of the prompt in the order in which the cache sees it: tools, system, messages."""
    blocks: list[dict[str, Any]] = list(body.get("tools", []))
    if output_format := (body.get("output_config") or {}).get("format"):
        blocks.append({"format": output_format})
    system = body.get("system", [])
    blocks += [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body["messages"]:
        content = message["content"]
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return blocks
