"""A fake Claude, a clock that waits for nobody, and an engine in a function."""

import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.search.llm.arms import parse_arms
from leaderboard.search.llm.journal import Journal, MemoryJournal
from leaderboard.search.llm.local import LlmSearch, Spending
from leaderboard.search.plan import Plan
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Language, Verdict
from runners.devices import DetectedDevice
from surrogate.contract.request import KernelText
from surrogate.llm.config import Config
from tests.fake_claude import FakeClaude, Reply, answer
from tests.search.conftest import device, owner, runner, version  # noqa: F401  fixtures
from tests.surrogate_llm.conftest import FakeClock

TASK = load(CATALOG / "softmax")
STARTER = TASK.starters["cpp"]
DEVICE = DetectedDevice("cpu-test", DeviceKind.CPU, "a test CPU", 0, (0, 1), {"cores": 2})
SONNET, HAIKU = "claude-sonnet-5-5", "claude-haiku-5-5"


@pytest.fixture
def server() -> Iterator[FakeClaude]:
    with FakeClaude() as fake:
        yield fake


def kernel(name: str, speed: int = 1, *, broken: str = "") -> str:
    """A source whose comment tells the engine below how fast it is; ``name`` makes it another kernel."""
    return f"""\
#include <cstdint>
// speed {speed} {broken}
static float {name}(float value) {{ return value; }}
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {{
    for (int64_t i = 0; i < rows * cols; ++i) y[i] = {name}(x[i]);
}}
"""


def code(source: str, idea: str = "It does less.") -> Reply:
    return answer(f"{idea}\n```cpp\n{source}```\n")


def edit(old: str, new: str) -> Reply:
    return answer(f"A local change.\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")


def vote(fails: bool, reason: str = "Line 4.") -> Reply:
    return answer({"fails": fails, "reason": reason})


def purpose(body: dict[str, Any]) -> str:
    """What a request is for: "form", "judge", "condense", or the operator."""
    properties = ((body.get("output_config") or {}).get("format") or {}).get("schema", {}).get("properties")
    if properties:
        return "form" if "steps" in properties else "condense" if "findings" in properties else "judge"
    text = "".join(block["text"] for block in body["messages"][0]["content"])
    for word, start in (
        ("translate", "Write a first kernel"),
        ("rewrite", "Write a faster kernel"),
        ("diff", "Make this kernel faster by a few"),
        ("combine", "Both kernels are correct"),
        ("different", "Write a kernel that differs"),
        ("repair", "This kernel failed as told"),
    ):
        if start in text:
            return word
    raise AssertionError(text)


def document(
    verdict: Verdict, seconds: float | None = None, reason: str = "", log: str = ""
) -> ResultDocument:
    score = None if seconds is None else {"seconds": seconds, "ci_low": seconds, "ci_high": seconds}
    timings = [{"case": "c", "description": "rows=4", "status": "passed", "seconds": seconds}]
    found: Any = {
        "verdict": verdict,
        "reason": reason,
        "failed_stage": "compile" if log else "",
        "score": score,
        "benchmarks": timings if seconds else [],
        "device_seconds": 2.0,
    }
    if log:
        found["compile"] = {"log": log}
    return found  # type: ignore[no-any-return]


def measure(kernel: KernelText) -> ResultDocument:
    """The starter takes 8 ms; what a kernel's comment says is how many times as fast it is."""
    if kernel.source == STARTER:
        return document(Verdict.PASSED, 8e-3)
    if "does_not_compile" in kernel.source:
        return document(Verdict.COMPILE_ERROR, reason="It does not compile.", log="error: 'oops' is no type")
    if "is_wrong" in kernel.source:
        return document(Verdict.WRONG, reason="Output y differs.")
    told = re.search(r"speed (\d+)", kernel.source)
    return document(Verdict.PASSED, 8e-3 / int(told[1]) if told else 8e-3)


MakeSearch = Callable[..., LlmSearch]


@pytest.fixture
def make_search(server: FakeClaude) -> MakeSearch:
    def make(
        *,
        journal: Journal | None = None,
        plan: Plan | None = None,
        money: str = "5",
        models: str = SONNET,
        verify: str = "",
        **changes: Any,
    ) -> LlmSearch:
        config = Config(api_key="test-key", base_url=server.url, stall_seconds=0.2, first_byte_seconds=5.0)
        return LlmSearch(
            TASK,
            Language.CPP,
            DEVICE,
            {},
            plan or Plan(slots=1, multiple=1, islands=1),
            changes.pop("measure", measure),
            arms=parse_arms(models),
            spending=Spending(Decimal(money), changes.pop("tokens", None)),
            config=config,
            journal=journal or MemoryJournal(),
            verify=parse_arms(verify)[0] if verify else None,
            clock=FakeClock(),
            **changes,
        )

    return make


@pytest.fixture
def journal_file(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def octaves(seconds: float) -> float:
    return math.log2(seconds)
