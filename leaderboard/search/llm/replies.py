"""From a model's answer to a kernel, or to the reason why there is none. A bad reply is no exception."""

import re
from dataclasses import dataclass
from enum import StrEnum

from leaderboard.search.llm.screening import refused
from leaderboard.services.errors import Refusal
from leaderboard.services.sources import check_entry_point, read_source
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Language
from surrogate.llm.outcome import Answer, Failure, FailureKind


class Fault(StrEnum):
    """Why an answer gave no kernel. Every one is counted and costs what the call cost."""

    REFUSED = "refused"  # the model declined
    TRUNCATED = "truncated"  # cut off at max_tokens: half a kernel never reaches a device
    PROVIDER = "provider"  # no answer came
    EMPTY = "empty"
    NO_CODE = "no_code"  # no code block, several, or one that never ends
    BAD_EDIT = "bad_edit"  # an edit that does not fit its parent
    REJECTED = "rejected"  # the site would not take such a source, or the task forbids what it does
    KNOWN = "known"  # equal to a kernel that the run knows
    ALIKE = "alike"  # so like one that measuring it would tell nothing
    VETOED = "vetoed"  # the verifiers' record justified refusing it


@dataclass(frozen=True)
class Written:
    """A kernel's source, with the sentence in which the model says what it did."""

    source: str
    idea: str


@dataclass(frozen=True)
class Unusable:
    fault: Fault
    message: str  # one sentence
    source: str = ""  # as far as there was one: what a repair starts from


_OPENS = re.compile(r"```[ \t]*[\w+#-]*[ \t]*")
_CLOSES = re.compile(r"```[ \t]*")
_SEARCH, _BETWEEN, _REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
_MOST_EDITS = 40
_LONGEST_IDEA = 300


def read_failure(failure: Failure) -> Unusable:
    kinds = {
        FailureKind.REFUSED: Fault.REFUSED,
        FailureKind.TRUNCATED: Fault.TRUNCATED,
        FailureKind.CONTEXT_EXCEEDED: Fault.TRUNCATED,
    }
    return Unusable(kinds.get(failure.kind, Fault.PROVIDER), f"{failure.kind}: {failure.message}")


def read_rewrite(answer: Answer, language: Language, spec: TaskSpec) -> Written | Unusable:
    """The one code block of an answer, as a source that the site takes."""
    text = answer.text.replace("\r\n", "\n")
    if not text.strip():
        return Unusable(Fault.EMPTY, "The answer is empty.")
    blocks = [block for block in _code_blocks(text) if block.strip()]
    if not blocks:
        return Unusable(Fault.NO_CODE, "The answer holds no complete code block.")
    if len(blocks) > 1:
        return Unusable(Fault.NO_CODE, f"The answer holds {len(blocks)} code blocks instead of one.")
    return _checked(blocks[0], _idea(text), language, spec)


def read_edit(answer: Answer, parent: str, language: Language, spec: TaskSpec) -> Written | Unusable:
    """``parent`` with the search/replace blocks of an answer applied, strictly and in their order."""
    text = answer.text.replace("\r\n", "\n")
    if not text.strip():
        return Unusable(Fault.EMPTY, "The answer is empty.")
    edits, marks = _edits(text)
    if not edits or len(edits) > _MOST_EDITS:
        return Unusable(Fault.BAD_EDIT, f"The answer holds {len(edits)} complete edits.")
    if marks != 3 * len(edits):
        return Unusable(Fault.BAD_EDIT, "An edit's marks are out of order, or one is missing.")
    source = parent if parent.endswith("\n") else parent + "\n"
    for number, (old, new) in enumerate(edits, 1):
        count = source.count(old) if old.strip() else 0
        if count != 1:
            found = "is empty" if not old.strip() else f"stands {count} times in the kernel, not once"
            return Unusable(Fault.BAD_EDIT, f"What edit {number} searches for {found}.")
        source = source.replace(old, new)
    if source.strip() == parent.strip():
        return Unusable(Fault.KNOWN, "The edits change nothing.")
    return _checked(source, _idea(text), language, spec)


def _code_blocks(text: str) -> list[str]:
    """What stands between fences that open and close. Line by line: an expression for the whole looks for the
    end of each fence anew, which takes hours where thousands open and none closes."""
    blocks: list[str] = []
    inside: list[str] | None = None
    for line in text.split("\n"):
        if inside is None:
            inside = [] if _OPENS.fullmatch(line) else None
        elif _CLOSES.fullmatch(line):
            blocks.append("".join(inside))
            inside = None
        else:
            inside.append(line + "\n")
    return blocks


def _edits(text: str) -> tuple[list[tuple[str, str]], int]:
    """(complete edits as (old, new), lines that begin with any of their marks)."""
    edits: list[tuple[str, str]] = []
    marks = 0
    old: list[str] | None = None
    new: list[str] | None = None
    for line in text.split("\n"):
        marks += line.startswith((_SEARCH, _BETWEEN, _REPLACE))
        if old is None:
            old = [] if line == _SEARCH else None
        elif new is None:
            if line == _BETWEEN:
                new = []
            else:
                old.append(line + "\n")
        elif line.rstrip(" \t") == _REPLACE:
            edits.append(("".join(old), "".join(new)))
            old = new = None
        else:
            new.append(line + "\n")
    return edits, marks


def _checked(source: str, idea: str, language: Language, spec: TaskSpec) -> Written | Unusable:
    try:
        text = read_source(source)
        check_entry_point(text, language, spec)
    except Refusal as refusal:
        where = f" (line {refusal.line})" if refusal.line else ""
        return Unusable(Fault.REJECTED, f"{refusal.message}{where}", source)
    if sentence := refused(text, language, spec):
        return Unusable(Fault.REJECTED, sentence, source)
    return Written(text, idea)


def _idea(text: str) -> str:
    """The first words before the code: what the model says that it did."""
    before = re.split(r"^(?:```|<<<<<<< SEARCH)", text, maxsplit=1, flags=re.MULTILINE)[0]
    return " ".join(before.split())[:_LONGEST_IDEA]
