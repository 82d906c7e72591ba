"""Requests and outcomes as plain JSON, for exports and storage."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from surrogate.contract.request import (
    Anchor,
    CaseFacts,
    DeviceFacts,
    ForecastRequest,
    KernelText,
    Neighbour,
    TaskFacts,
)


class DocumentError(ValueError):
    """A document is no request; the message names the place."""


def request_document(request: ForecastRequest) -> dict[str, Any]:
    """Plain JSON types only; ``request_from`` is its inverse."""
    document = asdict(request)
    document["task"]["cases"] = list(document["task"]["cases"])
    document["neighbours"] = list(document["neighbours"])
    for neighbour in document["neighbours"]:
        del neighbour["key"]  # of this site's database
    return document


def request_from(document: Mapping[str, Any]) -> ForecastRequest:
    """Inverse of ``request_document``. Raises DocumentError for a document from elsewhere that is not one."""
    task = _mapping(document, "task")
    return ForecastRequest(
        task=TaskFacts(
            slug=_text(task, "slug"),
            reference=_text(task, "reference"),
            family=_text(task, "family"),
            flops_dtype=_text(task, "flops_dtype"),
            cases=tuple(_case(item) for item in _sequence(task, "cases")),
        ),
        kernel=_kernel(_mapping(document, "kernel")),
        device=_device(_mapping(document, "device")),
        anchor=_anchor(_mapping(document, "anchor")),
        neighbours=tuple(
            Neighbour(
                _kernel(_mapping(item, "kernel")),
                _device(_mapping(item, "device")),
                number(item, "log2_ratio"),
            )
            for item in _sequence(document, "neighbours")
        ),
    )


def number(document: Mapping[str, Any], key: str) -> float:
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DocumentError(f"{key!r} is not a number")
    return float(value)


def _case(item: Any) -> CaseFacts:
    if not isinstance(item, Mapping):
        raise DocumentError("a case is not an object")
    sizes = {name: int(number(_mapping(item, "sizes"), name)) for name in _mapping(item, "sizes")}
    cost = [None if item.get(key) is None else int(number(item, key)) for key in ("bytes", "flops")]
    return CaseFacts(_text(item, "name"), sizes, *cost)


def _kernel(item: Mapping[str, Any]) -> KernelText:
    return KernelText(_text(item, "language"), _text(item, "source"), _settings(item))


def _device(item: Mapping[str, Any]) -> DeviceFacts:
    return DeviceFacts(
        _text(item, "slug"),
        _text(item, "kind"),
        _text(item, "name"),
        dict(_mapping(item, "facts")),
        dict(_mapping(item, "ceilings")),
    )


def _anchor(item: Mapping[str, Any]) -> Anchor:
    times = _mapping(item, "case_seconds")
    seconds = {name: number(times, name) for name in times}
    if any(value <= 0 for value in seconds.values()):
        raise DocumentError("the anchor's 'case_seconds' hold a time that is not above zero")
    return Anchor(
        _text(item, "name"), _text(item, "language"), _text(item, "source"), seconds, _settings(item)
    )


def _settings(item: Mapping[str, Any]) -> dict[str, float | str]:
    found = _mapping(item, "parameters")
    return {name: value if isinstance(value, str) else number(found, name) for name, value in found.items()}


def _mapping(document: Any, key: str) -> Mapping[str, Any]:
    value = document.get(key) if isinstance(document, Mapping) else None
    if not isinstance(value, Mapping):
        raise DocumentError(f"{key!r} is not an object")
    return value


def _sequence(document: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = document.get(key)
    if not isinstance(value, list):
        raise DocumentError(f"{key!r} is not a list")
    return value


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str):
        raise DocumentError(f"{key!r} is not a text")
    return value
