"""A task's own parameterised kernels: real search without a language model.

``<task>/templates/<key>.toml`` declares the parameters of ``<key>.template`` beside it; keys are those of the
starters (``cpp``, ``cuda``, ``python``, ``python-cuda``). A parameter's value stands where its name stands in
double braces. Whatever is wrong in a template becomes one sentence naming the file and the key.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaderboard.catalog.loader import CATALOG, CatalogError
from leaderboard.search.generators.grid import GridGenerator
from leaderboard.search.grid import Grid, Settings, Value, settings_of
from runners.contract.expressions import ExpressionError, evaluate
from runners.contract.vocabulary import LANGUAGES_OF, DeviceKind, Language
from surrogate.contract.request import KernelText

#: Language and device kinds of each key.
KEYS: dict[str, tuple[Language, tuple[DeviceKind, ...]]] = {
    "cpp": (Language.CPP, (DeviceKind.CPU,)),
    "cuda": (Language.CUDA, (DeviceKind.CUDA,)),
    "python": (Language.PYTHON, (DeviceKind.CPU, DeviceKind.CUDA)),
    "python-cuda": (Language.PYTHON, (DeviceKind.CUDA,)),
}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_HOLE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_MOST_VALUES = 64


@dataclass(frozen=True)
class Template:
    """``start`` is where every search begins: the plain kernel, as the starter has it."""

    task: str
    key: str
    summary: str
    text: str
    grid: Grid
    start: Settings
    kinds: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]  # the constraints: (smaller, larger) sides

    @property
    def digest(self) -> str:
        """Changes with anything that changes a search: parameters, text, its start, what it keeps apart."""
        parameters = sorted(self.grid.parameters.items())
        content = repr((self.key, self.text, parameters, self.start, self.rules, self.kinds))
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def language(self) -> Language:
        return KEYS[self.key][0]

    def render(self, settings: Settings) -> KernelText:
        """The kernel of these settings. Its parameters travel with it, for forecasts and moves."""
        values = dict(settings)
        source = _HOLE.sub(lambda hole: str(values[hole[1]]), self.text)
        return KernelText(str(self.language), source, values)

    def generator(self, *, recalled: Sequence[Settings] = ()) -> GridGenerator:
        return GridGenerator(
            "template", self.grid, self.render, kinds=self.kinds, start=self.start, recalled=recalled
        )


def load_templates(task: str, catalog: Path = CATALOG) -> dict[str, Template]:
    """The templates of a built-in task by key; none is no fault. Raises CatalogError."""
    folder = catalog / task / "templates"
    return {path.stem: load_template(task, path) for path in sorted(folder.glob("*.toml"))}


def template_for(task: str, kind: DeviceKind, language: str = "", catalog: Path = CATALOG) -> Template | None:
    """The template of a task that runs on a kind of device, in ``language`` or in the first one there is."""
    for template in load_templates(task, catalog).values():
        if kind not in KEYS[template.key][1] or template.language not in LANGUAGES_OF[kind]:
            continue
        if language in ("", template.key, str(template.language)):
            return template
    return None


def load_template(task: str, path: Path) -> Template:
    """The template declared in ``path``. Raises CatalogError naming file and key."""
    if path.stem not in KEYS:
        raise CatalogError(f"{path}: the name must be one of {', '.join(KEYS)}")
    document = _document(path)
    text = _text(path.with_suffix(".template"))
    parameters = _parameters(document, path)
    holes = set(_HOLE.findall(text))
    if unknown := sorted(holes - parameters.keys()):
        raise CatalogError(f"{path.with_suffix('.template')}: {unknown[0]!r} is no parameter of {path.name}")
    if unused := sorted(parameters.keys() - holes):
        raise CatalogError(f"{path}: parameters.{unused[0]}: stands nowhere in the template")
    constraints = _constraints(document, parameters, path)
    grid = Grid(parameters, lambda settings: all(_holds(item, settings) for item in constraints))
    start = _start(document, grid, path)
    kinds = document.get("kinds", [])
    if not isinstance(kinds, list) or not all(name in parameters for name in kinds):
        raise CatalogError(f"{path}: kinds: must be a list of parameters")
    summary = document.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        raise CatalogError(f"{path}: summary: must be a sentence")
    return Template(task, path.stem, summary.strip(), text, grid, start, tuple(kinds), tuple(constraints))


def _document(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{path}: is not valid TOML: {error}") from error
    if unknown := sorted(document.keys() - {"summary", "kinds", "parameters", "constraints"}):
        raise CatalogError(f"{path}: {unknown[0]}: is no key of a template")
    return document


def _parameters(document: Mapping[str, Any], path: Path) -> dict[str, tuple[Value, ...]]:
    """The first value of a list is where a search starts, so numbers are sorted here and not there."""
    declared = document.get("parameters")
    if not isinstance(declared, dict) or not declared:
        raise CatalogError(f"{path}: parameters: must be a table of lists")
    found: dict[str, tuple[Value, ...]] = {}
    for name, values in declared.items():
        where = f"{path}: parameters.{name}"
        if not _NAME.fullmatch(name):
            raise CatalogError(f"{where}: is no name of small letters, digits and underscores")
        if not isinstance(values, list) or not 1 <= len(values) <= _MOST_VALUES:
            raise CatalogError(f"{where}: must be a list of 1 to {_MOST_VALUES} values")
        numbers = all(isinstance(item, int) and not isinstance(item, bool) for item in values)
        if not numbers and not all(isinstance(item, str) for item in values):
            raise CatalogError(f"{where}: must hold whole numbers only, or texts only")
        if len(set(values)) != len(values):
            raise CatalogError(f"{where}: names a value twice")
        found[name] = tuple(sorted(values)) if numbers else tuple(values)
    return found


def _start(document: Mapping[str, Any], grid: Grid, path: Path) -> Settings:
    start = settings_of({name: values[0] for name, values in document["parameters"].items()})
    if not grid.allows(start):
        raise CatalogError(f"{path}: constraints: forbid the first value of every parameter together")
    return start


def _constraints(
    document: Mapping[str, Any], parameters: Mapping[str, tuple[Value, ...]], path: Path
) -> list[tuple[str, str]]:
    """(smaller, larger) sides of ``"threads * vector <= 4096"``."""
    declared = document.get("constraints", [])
    if not isinstance(declared, list):
        raise CatalogError(f"{path}: constraints: must be a list")
    numbers = {name: values[0] for name, values in parameters.items() if isinstance(values[0], int)}
    sides = []
    for text in declared:
        left, relation, right = str(text).partition("<=")
        if not relation:
            raise CatalogError(f"{path}: constraints: {text!r} is no comparison by <=")
        try:
            evaluate(left.strip(), numbers)
            evaluate(right.strip(), numbers)
        except ExpressionError as error:
            raise CatalogError(f"{path}: constraints: {text!r}: {error}") from error
        sides.append((left.strip(), right.strip()))
    return sides


def _holds(sides: tuple[str, str], settings: Settings) -> bool:
    numbers = {name: value for name, value in settings if isinstance(value, int)}
    try:
        return evaluate(sides[0], numbers) <= evaluate(sides[1], numbers)
    except ExpressionError:
        return False  # a side below zero, or past what fits


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: cannot be read as UTF-8 text: {error}") from error
