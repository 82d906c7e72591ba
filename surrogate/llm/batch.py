"""Many questions at once, for callers without an event loop."""

import asyncio
from collections.abc import Callable, Sequence

from surrogate.llm.client import Claude
from surrogate.llm.outcome import Answer, Failure, FailureKind
from surrogate.llm.request import Request

#: How often a caller is asked whether it still wants the answers, seconds.
POLL_SECONDS = 0.1


def ask_all(
    client: Claude,
    requests: Sequence[Request],
    *,
    deadline: float,
    concurrency: int = 8,
    should_stop: Callable[[], bool] | None = None,
) -> list[Answer | Failure]:
    """One outcome per request, in order; ``deadline`` is seconds for each.

    The first request goes alone: it writes the prompt's stable prefix to the cache, and the others read it.
    Once ``should_stop`` says so, everything under way is cancelled and answered with that. Blocks; call it
    from a thread that runs no event loop.
    """
    return asyncio.run(_ask_all(client, requests, deadline, concurrency, should_stop))


async def _ask_all(
    client: Claude,
    requests: Sequence[Request],
    deadline: float,
    concurrency: int,
    should_stop: Callable[[], bool] | None,
) -> list[Answer | Failure]:
    places = asyncio.Semaphore(concurrency)

    async def one(request: Request) -> Answer | Failure:
        async with places:
            return await client.ask(request, deadline=deadline)

    outcomes: list[Answer | Failure] = []
    async with client:
        for group in (requests[:1], requests[1:]):
            tasks = [asyncio.create_task(one(request)) for request in group]
            await _wait(tasks, should_stop)
            outcomes += [_outcome(task) for task in tasks]
    return outcomes


async def _wait(
    tasks: Sequence["asyncio.Task[Answer | Failure]"], should_stop: Callable[[], bool] | None
) -> None:
    pending = set(tasks)
    while pending:
        if should_stop is not None and should_stop():
            for task in pending:
                task.cancel()
        _, pending = await asyncio.wait(pending, timeout=None if should_stop is None else POLL_SECONDS)


def _outcome(task: "asyncio.Task[Answer | Failure]") -> Answer | Failure:
    if task.cancelled():
        return Failure(FailureKind.CANCELLED, "the question was withdrawn")
    return task.result()
