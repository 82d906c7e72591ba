"""Reading answers: one complete kernel, strict edits, and a reason for everything else."""

from dataclasses import replace

import pytest

from leaderboard.search.llm.replies import Fault, Unusable, Written, read_edit, read_failure, read_rewrite
from runners.contract.vocabulary import Language
from surrogate.llm.outcome import Answer, Failure, FailureKind
from tests.search_llm.conftest import TASK, kernel

PARENT = kernel("parent")


def rewrite(text: str) -> Written | Unusable:
    return read_rewrite(Answer(text, "m", "end_turn"), Language.CPP, TASK.spec)


def edited(text: str, parent: str = PARENT) -> Written | Unusable:
    return read_edit(Answer(text, "m", "end_turn"), parent, Language.CPP, TASK.spec)


def block(old: str, new: str) -> str:
    return f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"


def test_a_kernel_and_its_idea_are_read() -> None:
    read = rewrite(f"It reads\nonce.\r\n\r\n```cpp\n{PARENT}```\nThat is all.")
    assert read == Written(PARENT, "It reads once.")


@pytest.mark.parametrize(
    ("text", "fault", "said"),
    [
        ("", Fault.EMPTY, "empty"),
        (" \n\t", Fault.EMPTY, "empty"),
        ("I would use threads.", Fault.NO_CODE, "no complete code block"),
        (f"```cpp\n{PARENT}", Fault.NO_CODE, "no complete code block"),
        ("```cpp\n\n```", Fault.NO_CODE, "no complete code block"),
        (f"```cpp\n{PARENT}```\nor\n```cpp\n{PARENT}```", Fault.NO_CODE, "2 code blocks"),
        ("```cpp\nint main() { return 0; }\n```", Fault.REJECTED, "no function kernel"),
        ("```cpp\nvoid kernel(\0) {}\n```", Fault.REJECTED, "NUL byte"),
        ("```cpp\n// \ud800\n" + PARENT + "```", Fault.REJECTED, "half a character"),
        ("```cpp\n" + "/" * 3_000_000 + "\n```", Fault.REJECTED, "at most"),
    ],
)
def test_what_is_no_kernel_has_a_reason(text: str, fault: Fault, said: str) -> None:
    read = rewrite(text)
    assert isinstance(read, Unusable)
    assert read.fault == fault
    assert said in read.message


@pytest.mark.parametrize(
    ("language", "source", "said"),
    [
        (Language.CPP, PARENT.replace("y[i] =", "y[i] = cblas_sdot(1, x, 1, x, 1) *"), "cblas_sdot"),
        (Language.PYTHON, "import torch\n\ndef kernel(x):\n    return torch.softmax(x, -1)\n", "softmax"),
    ],
)
def test_what_the_task_forbids_reaches_no_verifier_and_no_device(
    language: Language, source: str, said: str
) -> None:
    """It is known from the text, so it costs no measurement; a task that allows it takes it."""
    reply = Answer(f"```\n{source}```", "m", "end_turn")
    assert isinstance(read_rewrite(reply, language, TASK.spec), Written)
    strict = replace(TASK.spec, forbids=("library_call",))
    read = read_rewrite(reply, language, strict)
    assert isinstance(read, Unusable)
    assert (read.fault, said in read.message) == (Fault.REJECTED, True), read.message
    assert "forbids" in read.message
    assert read.source == source  # which a repair starts from


def test_edits_are_applied_in_their_order() -> None:
    read = edited("Twice.\n" + block("// speed 1 ", "// speed 2") + block("// speed 2", "// speed 3"))
    assert isinstance(read, Written)
    assert "// speed 3" in read.source
    assert read.idea == "Twice."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("No edits at all.", "0 complete edits"),
        (block("not in it", "x"), "stands 0 times"),
        (block("float", "double"), "stands 0 times"),  # whole lines only
        (block("", "x"), "is empty"),
        (block("// speed 1 ", "y") + "<<<<<<< SEARCH\ncut", "out of order"),
        ("<<<<<<< SEARCH\n// speed 1 \n=======\nx\n", "0 complete edits"),
        (block("// speed 1 ", "y") * 41, "41 complete edits"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(text: str, said: str) -> None:
    read = edited(text)
    assert isinstance(read, Unusable)
    assert read.fault == Fault.BAD_EDIT
    assert said in read.message


def test_an_edit_must_fit_in_one_place() -> None:
    read = edited(block("same", "other"), "same\nsame\n" + PARENT)
    assert isinstance(read, Unusable)
    assert "stands 2 times" in read.message


def test_an_edit_that_changes_nothing_is_no_new_kernel() -> None:
    read = edited(block("// speed 1 ", "// speed 1 "))
    assert isinstance(read, Unusable)
    assert read.fault == Fault.KNOWN


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_failure_is_some_fault(kind: FailureKind) -> None:
    read = read_failure(Failure(kind, "so it is"))
    assert "so it is" in read.message
    assert (read.fault == Fault.REFUSED) == (kind == FailureKind.REFUSED)


@pytest.mark.parametrize("text", ["```a\n" * 100_000, "<<<<<<< SEARCH\n=======\n" * 20_000])
def test_an_answer_that_opens_all_the_time_and_closes_nothing_is_read(text: str) -> None:
    """It would hang a worker if each opening were followed to the end: hours for these."""
    for read in (rewrite(text), edited(text)):
        assert isinstance(read, Unusable)
        assert read.fault in (Fault.NO_CODE, Fault.BAD_EDIT)
