"""Bodies of strangers are bounded before Django stores them, through the ASGI application itself."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from kernelhub.asgi import application

_MEGABYTE = 2**20


def scope(path: str = "/accounts/login/", **headers: str) -> dict[str, Any]:
    pairs = {"host": "localhost", "content-type": "text/plain", **headers}
    return {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in pairs.items()],
    }


async def answer(request: dict[str, Any], chunks: Iterator[bytes]) -> tuple[int, bytes, int]:
    """Status and body of the answer, and how many chunks were taken before it came."""
    talk = ApplicationCommunicator(application, request)
    taken = 0
    for chunk in chunks:
        if talk.future is not None and talk.future.done():
            break
        await talk.send_input({"type": "http.request", "body": chunk, "more_body": True})
        taken += 1
        if not await talk.receive_nothing(timeout=0.05, interval=0.01):
            break
    start = await talk.receive_output(timeout=60)
    body = await talk.receive_output(timeout=60)
    await talk.wait(timeout=60)
    return start["status"], body["body"], taken


async def test_an_announced_giant_is_refused_unread() -> None:
    status, body, taken = await answer(scope(content_length=str(2**40)), iter(()))
    assert (status, taken) == (413, 0)
    assert b"larger than" in body


@pytest.mark.parametrize("announced", [{}, {"content_length": "10"}, {"content_length": "9" * 30}])
async def test_bytes_are_counted_whatever_was_announced(announced: dict[str, str]) -> None:
    endless = (b"x" * _MEGABYTE for _ in range(50))
    status, _, taken = await answer(scope(**announced), endless)
    assert (status, taken) == (413, 6)


async def test_the_api_says_it_in_its_own_shape() -> None:
    status, body, _ = await answer(scope("/api/v1/submissions/", content_length=str(2**40)), iter(()))
    assert status == 413
    assert json.loads(body)["error"]["code"] == "too_large"
