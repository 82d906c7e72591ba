"""Reading the built-in tasks: no Django, no torch.

A folder holds ``task.toml``, ``reference.py``, ``statement.md``, ``starter/``, ``good/`` and ``wrong/``.
Whatever is wrong in it becomes one sentence naming the file and the key.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.contract.parse import parse_task
from runners.contract.reading import SpecError
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import LANGUAGES_OF, SUFFIXES, DeviceKind, Language, Verdict

CATALOG = Path(__file__).resolve().parent

#: Starter file of each key of ``CatalogTask.starters``; the Triton one is a Python starter for CUDA devices.
STARTER_FILES = {
    "python": "kernel.py",
    "python-cuda": "kernel_triton.py",
    "cpp": "kernel.cpp",
    "cuda": "kernel.cu",
}
#: A Python fixture whose name contains one of these runs on CUDA devices only.
CUDA_MARKS = ("_cuda", "_triton")
#: What a wrong submission may end in by its own fault.
WRONG_VERDICTS = (Verdict.WRONG, Verdict.RUNTIME_ERROR, Verdict.TIMEOUT, Verdict.RESOURCE_LIMIT)
_VERDICT = re.compile(r"\s*(?:#|//)\s*Verdict:\s*(\S*)", re.IGNORECASE)


class CatalogError(ValueError):
    """A task folder breaks its format; the message names file and key."""


@dataclass(frozen=True)
class Fixture:
    """A submission of known verdict. ``note`` is its first line: what it does well or wrong.

    A good one passes. A wrong one gets WRONG, or what its second line names: ``# Verdict: runtime_error``.
    """

    path: Path
    language: Language
    device_kinds: tuple[DeviceKind, ...]
    note: str
    verdict: Verdict

    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class CatalogTask:
    """One task folder, read and checked. ``starters`` maps a key of ``STARTER_FILES`` to source text."""

    slug: str
    title: str
    summary: str
    position: int
    statement: str  # Markdown
    starters: Mapping[str, str]
    spec: TaskSpec
    good: tuple[Fixture, ...]
    wrong: tuple[Fixture, ...]


def load_all(catalog: Path = CATALOG) -> list[CatalogTask]:
    """Every task below ``catalog``, by position, then name. Raises CatalogError on the first fault."""
    folders = sorted(path.parent for path in catalog.glob("*/task.toml"))
    return sorted((load(folder) for folder in folders), key=lambda task: (task.position, task.slug))


def load(folder: Path) -> CatalogTask:
    """The task in ``folder``, whose name is its slug. Raises CatalogError naming file and key."""
    path = folder / "task.toml"
    try:
        document = tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{path}: is not valid TOML: {error}") from error
    try:
        condition = _read(folder / "condition.py") if "budget" in document else ""
        spec = parse_task(folder.name, document, _read(folder / "reference.py"), condition)
    except SpecError as error:
        raise CatalogError(f"{path}: {error}") from error
    position = document.get("position")
    if not isinstance(position, int) or isinstance(position, bool) or not 0 <= position <= 32767:
        raise CatalogError(f"{path}: position: must be a whole number from 0 to 32767, not {position!r}")
    return CatalogTask(
        slug=folder.name,
        title=_line(document, "title", 120, path),
        summary=_line(document, "summary", 300, path),
        position=position,
        statement=_read(folder / "statement.md"),
        starters=_starters(folder / "starter", spec),
        spec=spec,
        good=_fixtures(folder / "good", spec, Verdict.PASSED),
        wrong=_fixtures(folder / "wrong", spec, Verdict.WRONG),
    )


def _starters(folder: Path, spec: TaskSpec) -> dict[str, str]:
    """Each language of the task needs its starter, and the CUDA side of Python a Triton one."""
    keys = [str(language) for language in spec.languages]
    if Language.PYTHON in spec.languages and DeviceKind.CUDA in spec.device_kinds:
        keys.append("python-cuda")
    return {key: _read(folder / STARTER_FILES[key]) for key in keys}


def _fixtures(folder: Path, spec: TaskSpec, verdict: Verdict) -> tuple[Fixture, ...]:
    if not folder.is_dir():
        raise CatalogError(f"{folder}: the folder is missing")
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    return tuple(_fixture(path, spec, verdict) for path in paths)


def _fixture(path: Path, spec: TaskSpec, verdict: Verdict) -> Fixture:
    language = next((item for item in spec.languages if path.suffix in SUFFIXES[item]), None)
    if language is None:
        allowed = ", ".join(suffix for item in spec.languages for suffix in SUFFIXES[item])
        raise CatalogError(f"{path}: suffix {path.suffix!r} is not one of {allowed}")
    kinds = [kind for kind in spec.device_kinds if language in LANGUAGES_OF[kind]]
    if any(mark in path.stem for mark in CUDA_MARKS):
        kinds = [kind for kind in kinds if kind == DeviceKind.CUDA]
    first, *others = _read(path).splitlines()
    note = first.lstrip("/#").strip()
    if not first.startswith(("#", "//")) or not note:
        raise CatalogError(f"{path}: line 1 must be a comment saying what the file is")
    if not kinds:
        raise CatalogError(f"{path}: runs on none of the task's devices")
    if others and (named := _VERDICT.match(others[0])):
        verdict = _wrong_verdict(named[1], verdict, path)
    return Fixture(path, language, tuple(kinds), note, verdict)


def _wrong_verdict(word: str, usual: Verdict, path: Path) -> Verdict:
    """The verdict that a wrong fixture names for itself."""
    if usual == Verdict.PASSED or word not in WRONG_VERDICTS:
        allowed = ", ".join(WRONG_VERDICTS)
        raise CatalogError(f"{path}: line 2: only a wrong file names a verdict, one of {allowed}")
    return Verdict(word)


def _line(document: Mapping[str, Any], key: str, longest: int, path: Path) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value.strip() or "\n" in value or len(value) > longest:
        raise CatalogError(f"{path}: {key}: must be one line of 1 to {longest} characters")
    return value.strip()


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CatalogError(f"{path}: the file is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    if not text.strip():
        raise CatalogError(f"{path}: the file is empty")
    return text
