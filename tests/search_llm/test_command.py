"""``manage.py search --generator llm`` with the real engine and a scripted model."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from leaderboard.catalog.loader import CATALOG, load
from tests.fake_claude import FakeClaude, answer, error, refusal
from tests.search_llm.conftest import HAIKU, SONNET, code, purpose
from tests.search_llm.test_search import FORM

TASK = load(CATALOG / "sum")


@pytest.fixture(autouse=True)
def access(server: FakeClaude, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)


def test_a_kernel_that_fails_to_compile_is_repaired_and_measured(
    server: FakeClaude, tmp_path: Path, settings: Any
) -> None:
    settings.CALIBRATE = False  # takes longer than the search, and no ceiling matters here
    settings.TIMING_PERCENT = 5
    good = next(item for item in TASK.good if str(item.language) == "cpp").source()
    read = answer({"findings": ["It reads one element after the other."]})
    server.script(FORM, code(good.replace("{", "{ oops;", 1)), read, error(529), code(good), refusal())
    out, journal = io.StringIO(), tmp_path / "journal.jsonl"

    def search(measurements: int) -> dict[str, Any]:
        out.seek(0)
        out.truncate()
        with contextlib.suppress(SystemExit):  # whether it was faster is the machine's to say
            call_command(
                "search",
                "sum",
                generator="llm",
                models=f"{SONNET}:low",
                money="2",
                verifiers="none",
                measurements=measurements,
                slots=1,
                multiple=1,
                mode="benchmark",
                journal=journal,
                json=True,
                stdout=out,
                stderr=io.StringIO(),
            )
        found: dict[str, Any] = json.loads(out.getvalue())
        return found

    report = search(3)
    rows = report["measurements"]
    assert [row["verdict"] for row in rows] == ["passed", "compile_error", "passed"]
    assert [row["operator"] for row in rows] == ["start", "translate", "repair"]
    repair = server.bodies[-1]["messages"][0]["content"][0]["text"]
    assert "oops" in repair
    assert "error" in repair.partition("How it failed:")[2]
    assert server.bodies[-1]["output_config"] == {"effort": "low"}
    assert 0 < report["money_spent"] < 2
    # What a model is to condense is what the engine's own profiler said of the starter.
    (told,) = [
        body["messages"][0]["content"][0]["text"] for body in server.bodies if purpose(body) == "condense"
    ]
    assert "bytes_per_s: " in told
    asked = len(server.requests)
    again = search(3)  # from the journal alone
    assert again["measurements"] == rows
    assert len(server.requests) == asked


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "--money must say"),
        ({"money": "nan"}, "--money must say"),
        ({"money": "1", "models": "gpt-9"}, "no price is known"),
        ({"money": "1", "language": "cobol"}, "no such language"),
        ({"money": "1", "verifiers": f"{HAIKU}:huge"}, "effort must be one of"),
    ],
)
def test_what_can_not_be_searched_is_said_before_anything_is_paid(
    options: dict[str, Any], said: str, server: FakeClaude, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.local_runs.ceilings_for", lambda *_: {})
    with pytest.raises(CommandError, match=said):
        call_command("search", "sum", generator="llm", **options)
    assert server.requests == []


def test_without_a_key_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(CommandError, match="ANTHROPIC_API_KEY"):
        call_command("search", "sum", generator="llm", money="1")
