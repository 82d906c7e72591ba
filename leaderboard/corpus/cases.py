"""Reading a corpus: a folder with ``tasks/``, ``honest/`` and one folder per case with an ``expect.toml``.

Every source file in a case's folder is one way of doing the same thing; all are held to the same expectation,
except for keys repeated under ``[files."name"]``.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from runners.contract.parse import parse_task
from runners.contract.reading import SpecError
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import LANGUAGES_OF, SUFFIXES, DeviceKind, Language, Mode, Verdict

#: What a case is about. Only submissions run here; the others name the test that covers them.
KINDS = ("submission", "upload", "task", "board", "device")


class CorpusError(ValueError):
    """A corpus breaks its format; the message names file and key."""


@dataclass(frozen=True)
class Expectation:
    """What must become of a case. See tests/cheats/README.md for each key."""

    title: str
    why: str
    kind: str = "submission"
    task: str = ""
    mode: Mode = Mode.TEST
    expected: tuple[Verdict, ...] = ()
    reason: str = ""  # part of the reason given
    finding: str = ""  # a rule that must have matched
    least_seconds: float = 0.0  # per call, of every benchmark case
    least_floor: float = 0.0  # per call, share of the device's measured floor
    least_of_control: float = 0.0  # per call, share of what the control takes, timed just after
    never_printed: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    nondeterministic: bool = False
    overlapping: bool = False
    runs: int = 1
    unhurried: bool = False  # with the limits and bounds of the site
    control: str = ""  # file in honest/, which must pass in the same task and mode
    ceilings: Mapping[str, Any] = field(default_factory=dict)
    covered_by: str = ""  # "path.py::function" of the test that covers what is no submission
    gap: str = ""  # why it is not caught, in a sentence


@dataclass(frozen=True)
class Attempt:
    """One source file of a case, with what is expected of it."""

    case: str  # C01, A01 …
    path: Path
    language: Language
    expectation: Expectation

    @property
    def name(self) -> str:
        return f"{self.case}/{self.path.name}"

    def source(self, values: Mapping[str, str] | None = None) -> str:
        """The text, with ``@NAME@`` replaced by ``values``."""
        text = self.path.read_text(encoding="utf-8")
        for name, value in (values or {}).items():
            text = text.replace(f"@{name}@", value)
        return text


@dataclass(frozen=True)
class Corpus:
    """All cases, in order of their names. ``expectations`` holds those without a source as well."""

    root: Path
    specs: Mapping[str, TaskSpec]
    expectations: Mapping[str, Expectation]
    attempts: tuple[Attempt, ...]

    def attempts_on(self, kind: DeviceKind) -> tuple[Attempt, ...]:
        """Those whose language and task have a place on such a device."""
        return tuple(
            item
            for item in self.attempts
            if item.language in LANGUAGES_OF[kind] and kind in self.specs[item.expectation.task].device_kinds
        )

    def control(self, expectation: Expectation) -> Attempt:
        """The honest neighbour, as an attempt that must pass in the same task and mode, by the same rates."""
        path = self.root / "honest" / expectation.control
        wanted = Expectation(
            "honest",
            "does the same without cheating",
            task=expectation.task,
            mode=expectation.mode,
            expected=(Verdict.PASSED,),
            ceilings=expectation.ceilings,
            least_floor=expectation.least_floor,
        )
        return Attempt("honest", path, _language(path), wanted)


def read_corpus(root: Path, tasks: Path | None = None) -> Corpus:
    """Reads ``root``; ``tasks`` is a corpus whose tasks and honest submissions are used instead of its own.

    Raises CorpusError.
    """
    home = tasks or root
    specs = {folder.name: _spec(folder) for folder in sorted((home / "tasks").glob("*/"))}
    expectations: dict[str, Expectation] = {}
    attempts: list[Attempt] = []
    for path in sorted(root.glob("*/expect.toml")):
        name = path.parent.name
        document = _toml(path)
        overrides = document.pop("files", {})
        expectations[name] = _expectation(document, path)
        if expectations[name].kind != "submission":
            continue
        sources = [item for item in sorted(path.parent.iterdir()) if item.suffix in _LANGUAGES]
        for unknown in set(overrides) - {item.name for item in sources}:
            raise CorpusError(f"{path}: files.{unknown}: there is no such file")
        if not sources:
            raise CorpusError(f"{path}: the folder holds no submission")
        for source in sources:
            wanted = _expectation({**document, **overrides.get(source.name, {})}, path)
            _check(wanted, specs, home, path)
            attempts.append(Attempt(name, source, _language(source), wanted))
    if not expectations:
        raise CorpusError(f"{root}: holds no */expect.toml")
    return Corpus(home, specs, expectations, tuple(attempts))


_LANGUAGES = {suffix: language for language, suffixes in SUFFIXES.items() for suffix in suffixes}


def _language(path: Path) -> Language:
    return _LANGUAGES[path.suffix]


def _expectation(document: Mapping[str, Any], path: Path) -> Expectation:
    known = {item.name for item in fields(Expectation)}
    for key in set(document) - known:
        raise CorpusError(f"{path}: unknown key {key!r}")
    for key in ("title", "why"):
        if not document.get(key):
            raise CorpusError(f"{path}: {key} is missing")
    try:
        values = dict(document)
        values["mode"] = Mode(values.get("mode", "test"))
        values["expected"] = tuple(Verdict(item) for item in values.get("expected", ()))
        values["never_printed"] = tuple(values.get("never_printed", ()))
        values["printed"] = tuple(values.get("printed", ()))
    except ValueError as error:
        raise CorpusError(f"{path}: {error}") from error
    found = Expectation(**values)
    if found.kind not in KINDS:
        raise CorpusError(f"{path}: kind {found.kind!r} is not one of {', '.join(KINDS)}")
    if found.kind != "submission" and not found.covered_by:
        raise CorpusError(f"{path}: a case of kind {found.kind} names the test that covers it in covered_by")
    return found


def _check(wanted: Expectation, specs: Mapping[str, TaskSpec], home: Path, path: Path) -> None:
    if wanted.task not in specs:
        raise CorpusError(f"{path}: there is no task {wanted.task!r}")
    if not wanted.expected:
        raise CorpusError(f"{path}: expected names no verdict")
    if not (home / "honest" / wanted.control).is_file():
        raise CorpusError(f"{path}: control: honest/{wanted.control} is no file")
    least = wanted.least_seconds or wanted.least_floor or wanted.least_of_control
    proofs = least or wanted.never_printed or wanted.finding or wanted.nondeterministic
    proofs = proofs or wanted.overlapping
    if Verdict.PASSED in wanted.expected and not (proofs or wanted.gap):
        raise CorpusError(f"{path}: a case that passes must say what shows that it gained nothing")


def _spec(folder: Path) -> TaskSpec:
    try:
        reference = (folder / "reference.py").read_text(encoding="utf-8")
        return parse_task(folder.name, _toml(folder / "task.toml"), reference)
    except (OSError, SpecError) as error:
        raise CorpusError(f"{folder}: {error}") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{path}: {error}") from error
