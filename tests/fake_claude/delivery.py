"""Putting one reply on the wire, whole or streamed, with the fault it was given."""

import asyncio
import json
import threading
from dataclasses import dataclass
from typing import Any

from tests.fake_claude import wire
from tests.fake_claude.replies import Reply

PIECE = 12  # characters of text in one delta


@dataclass(frozen=True)
class Delivery:
    reply: Reply
    body: dict[str, Any]
    usage: dict[str, Any]
    request_id: str

    async def send(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stalled: threading.Event
    ) -> bool:
        """True when the connection can take another request."""
        if self.reply.until is not None:
            await asyncio.to_thread(self.reply.until.wait)
        if self.reply.fault == "reset":
            wire.reset(writer)
            return False
        if self.reply.fault == "silent":
            stalled.set()
            await wire.until_gone(reader)
            return False
        headers = {"request-id": self.request_id, **self.reply.headers}
        if self.reply.raw_body is not None:
            await wire.send_whole(writer, self.reply.status, headers, self.reply.raw_body)
            return True
        if self.reply.status != 200:
            await self._send_json(writer, headers, self._error())
            return True
        if not self.body.get("stream"):
            await self._send_json(writer, headers, self._message(self.reply.content, self.usage))
            return True
        await wire.start_stream(writer, headers)
        return await self._stream(reader, writer, stalled)

    async def _send_json(self, writer: asyncio.StreamWriter, headers: dict[str, str], document: Any) -> None:
        headers = {"content-type": "application/json", **headers}
        await wire.send_whole(writer, self.reply.status, headers, json.dumps(document).encode())

    async def _stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stalled: threading.Event
    ) -> bool:
        opening = self._message((), {**self.usage, "output_tokens": 1})
        opening |= {"stop_reason": None, "stop_details": None}
        await wire.send_event(writer, {"type": "message_start", "message": opening})
        await wire.send_event(writer, {"type": "ping"})
        for index, block in enumerate(self.reply.content):
            start, deltas = _pieces(block)
            await wire.send_event(
                writer, {"type": "content_block_start", "index": index, "content_block": start}
            )
            for delta in deltas:
                await wire.send_event(writer, {"type": "content_block_delta", "index": index, "delta": delta})
                if self.reply.fault:
                    return await self._fail_within(reader, writer, stalled)
            await wire.send_event(writer, {"type": "content_block_stop", "index": index})
        delta = {
            "stop_reason": self.reply.stop_reason,
            "stop_sequence": None,
            "stop_details": self.reply.stop_details,
        }
        final = {key: value for key, value in self.usage.items() if key.startswith("output_tokens")}
        await wire.send_event(writer, {"type": "message_delta", "delta": delta, "usage": final})
        await wire.send_event(writer, {"type": "message_stop"})
        await wire.end_stream(writer)
        return True

    async def _fail_within(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stalled: threading.Event
    ) -> bool:
        match self.reply.fault:
            case "reset_within":
                wire.reset(writer)
            case "cut_within":
                await wire.end_stream(writer)
            case "stall_within":
                stalled.set()
                await wire.until_gone(reader)
            case "pings_within":
                stalled.set()
                gone = asyncio.ensure_future(wire.until_gone(reader))
                while not gone.done():
                    await wire.send_event(writer, {"type": "ping"})
                    await asyncio.wait({gone}, timeout=0.005)
            case "garbage_within":
                await wire.send_chunk(writer, b"event: content_block_delta\ndata: {not json\n\n")
                await wire.until_gone(reader)
            case "error_within":
                await wire.send_event(writer, self._error())
                await wire.end_stream(writer)
            case other:
                raise AssertionError(f"{other!r} cannot happen within a stream")
        return False

    def _error(self) -> dict[str, Any]:
        details: dict[str, Any] = {"type": self.reply.error_type, "message": self.reply.message or "scripted"}
        if self.reply.error_code:
            details["details"] = {"error_code": self.reply.error_code}
        return {"type": "error", "error": details, "request_id": self.request_id}

    def _message(self, content: tuple[dict[str, Any], ...], usage: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"msg_{self.request_id}",
            "type": "message",
            "role": "assistant",
            "model": self.reply.model or self.body["model"],
            "content": list(content),
            "stop_reason": self.reply.stop_reason,
            "stop_sequence": None,
            "stop_details": self.reply.stop_details,
            "usage": usage,
        }


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The opening of a block and the deltas that fill it."""
    match block["type"]:
        case "text":
            texts = [block["text"][at : at + PIECE] for at in range(0, len(block["text"]), PIECE)]
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in texts]
        case "tool_use":
            text = json.dumps(block["input"])
            texts = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in texts
            ]
        case "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case _:
            return block, []
