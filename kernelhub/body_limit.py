"""A bound on request bodies for everyone, before Django stores a byte of them.

Django counts a body only when a view reads it, and by then the ASGI handler has spooled all of it to disk.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class BodyLimit:
    """Answers 413 when a body is announced to be, or turns out to be, larger than ``most`` bytes."""

    def __init__(self, application: Application, most: int) -> None:
        self._application = application
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if _announced(scope) > self._most:
            await self._refuse(scope, send)
            return
        count, too_large = 0, False

        async def counted() -> Message:
            nonlocal count, too_large
            message = await receive()
            count += len(message.get("body", b""))
            if count <= self._most:
                return message
            # To the application the client is gone: it drops what it has and answers nothing.
            too_large = True
            return {"type": "http.disconnect"}

        await self._application(scope, counted, send)
        if too_large:
            await self._refuse(scope, send)

    async def _refuse(self, scope: Scope, send: Send) -> None:
        text = f"The request's body is larger than {self._most:,} bytes."
        kind, body = b"text/plain; charset=utf-8", text
        if scope["path"].startswith("/api/"):
            error = {"code": "too_large", "message": text, "line": None, "field": None}
            kind, body = b"application/json", json.dumps({"error": error})
        headers = [(b"content-type", kind), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body.encode()})


def _announced(scope: Scope) -> int:
    """Content-Length, or 0 where there is none that can be read: then the bytes are counted."""
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit() and len(value) < 20:
            return int(value)
    return 0
