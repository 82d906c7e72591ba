"""The server: a thread with its own event loop, a script of replies, and a record of requests."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from tests.fake_claude import delivery, rules, wire
from tests.fake_claude.caching import PromptCache, tokens_in
from tests.fake_claude.replies import Reply, answer, error

#: Writes the reply to a request body; used when the script is empty.
Responder = Callable[[dict[str, Any]], Reply]


@dataclass(frozen=True)
class Recorded:
    """One request as it arrived. Header names are lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class FakeClaude:
    """Use as a context manager; ``url`` is what ANTHROPIC_BASE_URL should be.

    Replies come from the script in order, then from ``responder``. Requests the real API would refuse are
    refused before the script is looked at.
    """

    def __init__(self, responder: Responder | None = None, *, api_key: str = "test-key") -> None:
        self.responder = responder or (lambda _: answer("Hello."))
        self.api_key = api_key
        self.requests: list[Recorded] = []
        self.stalled = threading.Event()  # set when a reply stands still on purpose
        self.url = ""
        self._script: deque[Reply] = deque()
        self._paused: list[str] = []  # texts of turns we paused, which may be handed back
        self._cache = PromptCache()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self._serve(),), daemon=True
        )
        self._lock = threading.Lock()

    def script(self, *replies: Reply) -> None:
        """Add replies for the next requests."""
        with self._lock:
            self._script.extend(replies)

    @property
    def unused(self) -> int:
        """Scripted replies nobody asked for."""
        return len(self._script)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests]

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            try:
                await self._converse(reader, writer)
            except (ConnectionError, asyncio.CancelledError):
                pass  # the client has gone, or the test is over
            finally:
                tasks.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await wire.read_request(reader)) is not None:
            method, path, headers, raw = request
            keep_open = await self._respond(method, path, headers, raw, reader, writer)
            if not keep_open:
                return

    async def _respond(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        raw: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """Answer one request; False when the connection is used up."""
        with self._lock:
            number = len(self.requests) + 1
            body = _parsed(raw)
            self.requests.append(Recorded(path, headers, body if isinstance(body, dict) else {}))
            reply = self._refusal(method, path, headers, raw, body) or self._next_reply(body)
            usage = self._cache.usage(body) if reply.status == 200 else {}
        usage |= {"output_tokens": _output_tokens(reply), "service_tier": "standard"}
        if reply.thinking_tokens:
            usage["output_tokens_details"] = {"thinking_tokens": reply.thinking_tokens}
        sent = delivery.Delivery(reply, body if isinstance(body, dict) else {}, usage, f"req_{number:04d}")
        return await sent.send(reader, writer, self.stalled)

    def _next_reply(self, body: dict[str, Any]) -> Reply:
        reply = self._script.popleft() if self._script else self.responder(body)
        if reply.stop_reason == "pause_turn":
            self._paused.append(_text(reply.content))
        return reply

    def _continues(self, body: Any) -> bool:
        last = body["messages"][-1] if isinstance(body, dict) and body.get("messages") else {}
        return last.get("role") == "assistant" and _text(last["content"]) in self._paused

    def _refusal(
        self, method: str, path: str, headers: dict[str, str], raw: bytes, body: Any
    ) -> Reply | None:
        """What the API checks before a model sees the request."""
        if (
            headers.get("x-api-key") != self.api_key
            and headers.get("authorization") != f"Bearer {self.api_key}"
        ):
            return error(401, "invalid x-api-key")
        if method != "POST" or path.split("?")[0] != "/v1/messages":
            return error(404, f"{method} {path} does not exist")
        if "anthropic-version" not in headers:
            return error(400, "anthropic-version: header is required")
        if len(raw) > rules.MAX_BODY:
            return error(413, "Request exceeds the maximum size")
        if found := rules.complaint(body, continues=self._continues(body)):
            return error(400, found)
        if body["model"] not in rules.KNOWN_MODELS:
            return error(404, f"model: {body['model']}")
        return None


def _text(content: Any) -> str:
    return "".join(block.get("text", "") for block in content)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _output_tokens(reply: Reply) -> int:
    if reply.output_tokens is not None:
        return reply.output_tokens
    return sum(tokens_in(json.dumps(block)) for block in reply.content) + reply.thinking_tokens
