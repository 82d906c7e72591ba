"""HTTP/1.1 and server-sent events by hand, so that a response can break at any byte."""

import asyncio
import json
import socket
import struct
from typing import Any

REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 529: "Overloaded"}


async def read_request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes] | None:
    """Method, path, headers (lower-case names) and body; None when the client has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in filter(None, lines):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    try:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return method, path, headers, body


async def send_whole(writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes) -> None:
    """A complete response of known length."""
    writer.write(_head(status, {**headers, "content-length": str(len(body))}) + body)
    await writer.drain()


async def start_stream(writer: asyncio.StreamWriter, headers: dict[str, str]) -> None:
    """Status 200 and the headers of an event stream; what follows comes in chunks."""
    stream_headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **headers}
    writer.write(_head(200, stream_headers))
    await writer.drain()


async def send_event(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    await send_chunk(writer, f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


async def send_chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()


async def end_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with a TCP reset, as a crashed host does."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def until_gone(reader: asyncio.StreamReader) -> None:
    """Wait until the client closes its side: silence of any length without a sleep."""
    try:
        while await reader.read(4096):
            pass
    except ConnectionError:
        pass


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
