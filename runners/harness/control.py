"""The control channel: one JSON document per packet, descriptors travelling beside it."""

import json
import os
import socket
from collections.abc import Sequence
from typing import Any

#: Largest packet, bytes; longer texts are cut before they are sent.
MAX_PACKET = 128 * 1024
_MOST_DESCRIPTORS = 8


class Control:
    """One end of the channel, inside the sandbox."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """The next message and its descriptors. Ends the process when the supervisor is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._socket, MAX_PACKET, _MOST_DESCRIPTORS)
        if not data:
            os._exit(0)
        message: dict[str, Any] = json.loads(data)
        return message, descriptors

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        socket.send_fds(self._socket, [json.dumps(message).encode()], descriptors)


def short(text: str, limit: int = 8000) -> str:
    """``text`` cut to ``limit`` characters, or to a sixth where most of them need escaping in JSON."""
    cut = text[:limit]
    if len(json.dumps(cut)) > 2 * limit:
        cut = text[: limit // 6]
    return cut if len(cut) == len(text) else cut + " …"
