"""The table of what Claude's API may do names tests that exist, and every kind of failure."""

import re
from pathlib import Path

from surrogate.llm.outcome import FailureKind

HERE = Path(__file__).parent
ROWS = [line for line in (HERE / "README.md").read_text().splitlines() if line.startswith("| ")][1:]


def test_every_named_test_exists() -> None:
    folders = (HERE, HERE.parent / "surrogate_live")
    texts = [path.read_text() for folder in folders for path in folder.glob("test_*.py")]
    defined = {
        name for text in texts for name in re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE)
    }
    named = {name for row in ROWS for name in re.findall(r"`(test_\w+)`", row)}
    assert len(named) > 40
    assert named <= defined


def test_every_kind_of_failure_has_its_row() -> None:
    told = {word for row in ROWS for word in re.findall(r"`(\w+)`", row.split("|")[3])}
    assert told == set(FailureKind)


def test_every_test_of_the_client_has_its_row() -> None:
    text = "\n".join(ROWS)
    for name in ("test_client_failures.py", "test_client_losses.py"):
        for test in re.findall(r"^async def (test_\w+)", (HERE / name).read_text(), re.MULTILINE):
            assert f"`{test}`" in text, test
