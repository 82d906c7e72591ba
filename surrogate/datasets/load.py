"""Opening a file of JSON lines, plain or gzip, and finding out which format it is."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from surrogate.datasets import cuda_l1, export, kernelbench, tuning_space
from surrogate.datasets.record import Dataset, DatasetError

Rows = Iterable[Mapping[str, Any]]

_FORMATS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Rows], Dataset]], ...] = (
    (export.recognises, export.load),
    (cuda_l1.recognises, cuda_l1.load),
    (kernelbench.recognises, kernelbench.load),
)


def load(path: Path) -> Dataset:
    """The records of one file. Raises DatasetError naming file and line."""
    rows = read_rows(path)
    try:
        return _reader(rows[0], path)(rows)
    except (KeyError, TypeError, AttributeError) as error:
        raise DatasetError(f"{path}: a line lacks a field of its format: {error}") from error
    except DatasetError as error:
        raise DatasetError(f"{path}: {error}") from error


def _reader(first: Mapping[str, Any], path: Path) -> Callable[[Rows], Dataset]:
    if tuning_space.recognises(first):
        return partial(tuning_space.load, source=_template_beside(path))
    for recognises, read in _FORMATS:
        if recognises(first):
            return read
    raise DatasetError("the first line is of no known format")


def load_space(path: Path) -> tuning_space.Space:
    """A tuning space with every setting. Raises DatasetError if the file is none."""
    rows = read_rows(path)
    if not tuning_space.recognises(rows[0]):
        raise DatasetError(f"{path}: not a tuning space")
    try:
        return tuning_space.read_space(rows, _template_beside(path))
    except (KeyError, TypeError, AttributeError) as error:
        raise DatasetError(f"{path}: a line lacks a field of its format: {error}") from error


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All lines of a file as objects; at least one."""
    rows = []
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except ValueError:
                    raise DatasetError(f"{path}, line {number}: not JSON") from None
                if not isinstance(row, dict):
                    raise DatasetError(f"{path}, line {number}: not a JSON object")
                rows.append(row)
    except UnicodeDecodeError:
        raise DatasetError(f"{path}: not UTF-8 text") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path}: {error}") from error
    if not rows:
        raise DatasetError(f"{path}: no lines")
    return rows


def _template_beside(path: Path) -> str:
    """Source of the templated kernel: ``<first word>_kernel.json`` in the same folder, if there is one."""
    description = path.with_name(f"{path.name.split('_')[0]}_kernel.json")
    try:
        source = json.loads(description.read_text("utf-8"))["source"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return source if isinstance(source, str) else ""
