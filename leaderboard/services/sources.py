"""Checks of a submitted source that need no compiler: cheap ones first, each with the line at fault."""

import ast
import re
from itertools import islice
from pathlib import PurePosixPath

from leaderboard.services.errors import Refusal
from runners.backends.cpp.tokens import mentions_function
from runners.contract.entry_point import ENTRY_POINT, declaration, python_signature
from runners.contract.limits import MAX_SOURCE_BYTES
from runners.contract.spec import TaskSpec
from runners.contract.storable import first_unstorable
from runners.contract.vocabulary import LANGUAGE_LABELS, SUFFIXES, Language

_BOM = "\ufeff"
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While)
#: Roughly Python's tokens. A parsed one takes up to a kilobyte, so their number bounds what parsing costs.
_PYTHON_TOKEN = re.compile(r"\w+|[^\w\s]")
_MOST_PARSED = 30_000  # tokens; more are left to the screen, which runs under limits of its own


def read_source(source: bytes | str) -> str:
    """The text of a source, with its byte-order mark and carriage returns before newlines dropped.

    Browsers send CRLF from forms; without this one kernel would get two digests. Nothing else is changed.
    Raises Refusal: too_large, not_utf8, nul_byte, empty.
    """
    try:
        raw = source.encode() if isinstance(source, str) else bytes(source)
        if len(raw) > MAX_SOURCE_BYTES:
            raise Refusal(
                "too_large", f"The source has {len(raw):,} bytes; at most {MAX_SOURCE_BYTES:,} are allowed."
            )
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise Refusal(
            "not_utf8", f"The source is not UTF-8: byte {error.start} on line {line} is invalid.", line
        ) from None
    except UnicodeEncodeError as error:
        line = error.object[: error.start].count("\n") + 1
        raise Refusal(
            "not_utf8", f"The source is not UTF-8: line {line} holds half a character.", line
        ) from None
    if (place := first_unstorable(text)) is not None:  # a NUL: decoded text holds no half of a pair
        line = text[:place].count("\n") + 1
        raise Refusal("nul_byte", f"The source holds a NUL byte on line {line}.", line)
    text = text.removeprefix(_BOM).replace("\r\n", "\n")
    if not text.strip():
        raise Refusal("empty", "The source is empty.")
    return text


def read_language(language: str, filename: str) -> Language:
    """The language chosen, or told by the file name when none is.

    Raises Refusal: language_unknown, language_mismatch.
    """
    suffix = PurePosixPath(filename).suffix.lower()
    told = next((item for item, suffixes in SUFFIXES.items() if suffix in suffixes), None)
    if not language and told:
        return told
    try:
        chosen = Language(language)
    except ValueError:
        known = ", ".join(Language)
        if not language and suffix:
            endings = ", ".join(ending for endings in SUFFIXES.values() for ending in endings)
            raise Refusal(
                "language_unknown",
                f"{filename} tells no language by its name, which ends in none of {endings}; "
                f"choose one of {known}.",
            ) from None
        raise Refusal("language_unknown", f"{language!r} is no language; choose one of {known}.") from None
    if suffix and told != chosen:
        expected = " or ".join(SUFFIXES[chosen])
        raise Refusal(
            "language_mismatch",
            f"The file ends in {suffix}, but a {LANGUAGE_LABELS[chosen]} source ends in {expected}.",
        )
    return chosen


def check_entry_point(text: str, language: Language, spec: TaskSpec) -> None:
    """Raises Refusal: syntax_error, entry_point_missing."""
    if language == Language.PYTHON:
        if not _defines_python(text):
            raise Refusal(
                "entry_point_missing",
                f"The source defines no function {ENTRY_POINT} at its top level; the task calls "
                f"{python_signature(spec)}.",
            )
    elif not mentions_function(text, ENTRY_POINT):
        raise Refusal(
            "entry_point_missing",
            f"The source defines no function {ENTRY_POINT}; the task calls {declaration(spec, language)}",
        )


def _defines_python(text: str) -> bool:
    if next(islice(_PYTHON_TOKEN.finditer(text), _MOST_PARSED, None), None) is not None:
        return re.search(rf"\b{ENTRY_POINT}\b", text) is not None
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise Refusal("syntax_error", f"Line {error.lineno}: {error.msg}.", error.lineno) from None
    except (ValueError, RecursionError, MemoryError):
        raise Refusal("syntax_error", "The source nests too deeply to be parsed.") from None
    return any(_binds(statement) for statement in _statements(module.body))


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """The module's statements with those inside its if, try, with and loop blocks."""
    found: list[ast.stmt] = []
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        found.append(statement)
        if isinstance(statement, _BLOCKS):
            waiting += [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt)]
            for handler in getattr(statement, "handlers", []):
                waiting += handler.body
    return found


def _binds(statement: ast.stmt) -> bool:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name == ENTRY_POINT
        case ast.Assign(targets=targets):
            return any(
                isinstance(node, ast.Name) and node.id == ENTRY_POINT
                for target in targets
                for node in ast.walk(target)
            )
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            return name == ENTRY_POINT and value is not None
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return any(alias.name == "*" or (alias.asname or alias.name) == ENTRY_POINT for alias in names)
        case _:
            return False
