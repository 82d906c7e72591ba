"""A fake Claude on a loopback socket, and time that passes only when somebody waits."""

from collections.abc import Iterator
from random import Random

import pytest

from surrogate.llm.client import Claude
from surrogate.llm.config import Config
from surrogate.llm.ledger import MemoryLedger, SpendLedger
from surrogate.llm.request import Request, TextBlock
from tests.fake_claude import FakeClaude

FIRST, SECOND = "claude-sonnet-5-5", "claude-haiku-5-5"
QUESTION = Request(
    system=(TextBlock("You are brief.", cache="1h"),),
    user=(TextBlock("Hello?"),),
    max_tokens=200,
    purpose="test",
)


class FakeClock:
    """``sleep`` returns at once, moves ``now`` on and remembers how long it was asked to wait."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


@pytest.fixture
def server() -> Iterator[FakeClaude]:
    with FakeClaude() as fake:
        yield fake


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger(None)


@pytest.fixture
def config(server: FakeClaude) -> Config:
    return Config(api_key="test-key", base_url=server.url, models=(FIRST, SECOND))


def claude(config: Config, ledger: SpendLedger, clock: FakeClock) -> Claude:
    return Claude(config, ledger, clock=clock, random=Random(0))


async def ask(config, ledger, clock, *, deadline=60.0, question=QUESTION):
    async with claude(config, ledger, clock) as client:
        return await client.ask(question, deadline=deadline)


def models(server):
    return [body["model"] for body in server.bodies]
