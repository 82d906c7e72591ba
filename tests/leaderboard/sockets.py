"""A browser's side of a socket. (``channels.testing`` has one, but can't be imported without daphne.)"""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator


class Socket:
    """One socket at ``path``, of ``viewer`` or of whomever the cookie in ``headers`` stands for."""

    def __init__(
        self, application: Any, path: str, viewer: object = None, headers: dict[str, str] | None = None
    ) -> None:
        scope: dict[str, Any] = {"type": "websocket", "path": path, "query_string": b"", "headers": []}
        if viewer is not None:
            scope["user"] = viewer
        for name, value in (headers or {}).items():
            scope["headers"].append((name.encode(), value.encode()))
        self._wire = ApplicationCommunicator(application, scope)

    async def open(self) -> "Socket":
        await self._wire.send_input({"type": "websocket.connect"})
        assert (await self._wire.receive_output(timeout=60))["type"] == "websocket.accept"
        return self

    async def is_denied(self) -> bool:
        """Whether opening is refused before the socket is accepted."""
        await self._wire.send_input({"type": "websocket.connect"})
        return bool((await self._wire.receive_output(timeout=60))["type"] == "websocket.close")

    async def frame(self) -> dict[str, Any]:
        """The next frame; waits for it."""
        output = await self._wire.receive_output(timeout=60)
        assert output["type"] == "websocket.send", output
        frame: dict[str, Any] = json.loads(output["text"])
        return frame

    async def close_code(self) -> int:
        output = await self._wire.receive_output(timeout=60)
        assert output["type"] == "websocket.close", output
        await self.leave(1006)
        return int(output["code"])

    async def say(self, text: str | None = None, data: bytes | None = None) -> None:
        await self._wire.send_input({"type": "websocket.receive", "text": text, "bytes": data})

    async def hears_nothing(self) -> bool:
        return bool(await self._wire.receive_nothing(timeout=0.1))

    async def leave(self, code: int = 1000) -> None:
        await self._wire.send_input({"type": "websocket.disconnect", "code": code})
        await self._wire.wait(timeout=60)
