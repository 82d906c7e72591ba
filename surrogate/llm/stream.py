"""Reading one streamed answer: every silence bounded, every early end noticed."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anthropic
from anthropic.types import Message

from surrogate.llm.errors import BrokenStream, Stalled
from surrogate.llm.usage import TokenUsage

_END_SECONDS = 1.0


@dataclass
class Transcript:
    """What has arrived so far. It outlives a failed read: the log and the ledger need it."""

    request_id: str | None = None
    started: bool = False  # the API answered 200, so the call is billed
    complete: bool = False  # the stream reached its own end
    message: Message | None = None

    @property
    def text(self) -> str:
        blocks = self.message.content if self.message is not None else []
        return "".join(block.text for block in blocks if block.type == "text")

    @property
    def usage(self) -> TokenUsage:
        return token_usage(self.message) if self.message is not None else TokenUsage()


async def read(
    sdk: anthropic.AsyncAnthropic,
    parameters: dict[str, Any],
    transcript: Transcript,
    *,
    first_byte_seconds: float,
    stall_seconds: float,
    on_text: Callable[[str], None] | None,
) -> None:
    """Send the request and fill ``transcript``; ``on_text`` gets the whole text so far at each piece.

    Raises the SDK's and httpx2's errors, Stalled, or BrokenStream.
    """
    manager = sdk.messages.stream(**parameters)
    try:
        async with asyncio.timeout(first_byte_seconds):
            stream = await manager.__aenter__()
    except TimeoutError:
        raise Stalled(f"Claude sent no response within {first_byte_seconds:g} s") from None
    transcript.started = True
    transcript.request_id = stream.request_id
    try:
        while not transcript.complete:
            try:
                # Pings never get here: the SDK drops them, so a stream of nothing else counts as silent.
                async with asyncio.timeout(stall_seconds):
                    event = await anext(stream)
            except StopAsyncIteration:
                raise BrokenStream("the answer ended before it was complete") from None
            except TimeoutError:
                raise Stalled(f"the answer stood still for {stall_seconds:g} s") from None
            except (ValueError, LookupError, RuntimeError, TypeError, AttributeError) as error:
                # The SDK checks little of what a server sends: a broken event surfaces as one of these.
                raise BrokenStream(f"the answer holds a broken event: {str(error)[:200]}") from error
            transcript.message = stream.current_message_snapshot
            if event.type == "text" and on_text is not None:
                on_text(transcript.text)
            transcript.complete = event.type == "message_stop"
        await _read_to_the_end(stream)
    finally:
        await manager.__aexit__(None, None, None)


async def _read_to_the_end(stream: Any) -> None:
    """Nothing follows the last event: then the connection serves again, and no half-read generator is left to
    whoever collects it. What a server does instead no longer matters."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_END_SECONDS):
            async for _ in stream:
                pass


def token_usage(message: Message) -> TokenUsage:
    """Usage as the API reports it; what it leaves out counts as zero."""
    usage = getattr(message, "usage", None)
    if usage is None:
        return TokenUsage()
    written = usage.cache_creation_input_tokens or 0
    hour = usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation is not None else 0
    details = usage.output_tokens_details
    return TokenUsage(
        input=usage.input_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write_5m=max(0, written - hour),
        cache_write_1h=hour,
        output=usage.output_tokens or 0,
        thinking=details.thinking_tokens if details is not None else 0,
    )
