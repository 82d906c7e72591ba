"""The page of the API: every operation as the schema has it, drawn by the site's own templates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

_METHODS = ("get", "post", "patch", "put", "delete")
_JSON = "application/json"
#: How far shapes within shapes are followed: deeper ones are named alone.
_DEEPEST = 4


@dataclass(frozen=True)
class Field:
    """A parameter, or a key of a document; ``depth`` is how far in."""

    name: str
    kind: str
    is_required: bool
    words: str
    depth: int = 0

    @property
    def nesting(self) -> range:
        return range(self.depth)


@dataclass(frozen=True)
class Operation:
    name: str
    method: str
    path: str
    words: str
    needs_login: bool
    parameters: list[Field]
    body: list[Field]
    answer: list[Field]
    statuses: list[str]

    @property
    def curl(self) -> str:
        """A call to copy, with the address of the site left to its caller."""
        parts = ["curl"] if self.method == "GET" else ["curl", "-X", self.method]
        if self.needs_login:
            parts.append('-H "Authorization: Bearer $TOKEN"')
        if self.body:
            parts += ['-H "Content-Type: application/json"', "-d '{…}'"]
        return " ".join([*parts, f'"$SITE{self.path}"'])


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboard/api.html", {"groups": _groups()})


@lru_cache(maxsize=1)
def _groups() -> list[tuple[str, list[Operation]]]:
    """By the first word of the path. The schema does not change while the site runs."""
    generator: Any = SchemaGenerator  # it has no types of its own
    schema: dict[str, Any] = generator().get_schema(request=None, public=True)
    shapes = schema["components"]["schemas"]
    groups: dict[str, list[Operation]] = {}
    for path, operations in schema["paths"].items():
        for method in _METHODS:
            if (found := operations.get(method)) is not None:
                groups.setdefault(found["tags"][0], []).append(_operation(path, method, found, shapes))
    return sorted(groups.items())


def _operation(path: str, method: str, found: Mapping[str, Any], shapes: Mapping[str, Any]) -> Operation:
    answers = found["responses"]
    good: Mapping[str, Any] = next((answers[status] for status in answers if status.startswith("2")), {})
    parameters = [
        Field(
            item["name"],
            _kind(item["schema"], shapes),
            bool(item.get("required")),
            str(item.get("description", "")),
        )
        for item in sorted(found.get("parameters", ()), key=lambda item: item["in"] != "path")
    ]
    return Operation(
        name=found["operationId"],
        method=method.upper(),
        path=path,
        words=str(found.get("description", "")).replace("``", "'"),
        needs_login={} not in found.get("security", [{}]),
        parameters=parameters,
        body=list(_document(found.get("requestBody", {}), shapes)),
        answer=list(_document(good, shapes)),
        statuses=list(answers),
    )


def _document(holder: Mapping[str, Any], shapes: Mapping[str, Any]) -> Iterator[Field]:
    schema = holder.get("content", {}).get(_JSON, {}).get("schema")
    return _fields(schema, shapes, 0, ()) if schema else iter(())


def _fields(
    schema: Mapping[str, Any], shapes: Mapping[str, Any], depth: int, within: tuple[str, ...]
) -> Iterator[Field]:
    """The keys of an object, or of the objects in a list, each followed by those inside of it."""
    name = _name(schema)
    shape = _resolved(schema, shapes)
    if depth >= _DEEPEST or (name and name in within):
        return
    required = shape.get("required", ())
    for key, inner in shape.get("properties", {}).items():
        words = str(inner.get("description") or "")
        yield Field(key, _kind(inner, shapes), key in required, words, depth)
        yield from _fields(inner, shapes, depth + 1, (*within, name))
    for inner in (shape.get("items"), shape.get("additionalProperties")):
        if isinstance(inner, Mapping):
            yield from _fields(inner, shapes, depth, within)


def _resolved(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> Mapping[str, Any]:
    name = _name(schema)
    return shapes[name] if name else schema


def _name(schema: Mapping[str, Any]) -> str:
    """Of the shape that a reference leads to, also where it is wrapped for a word or for null."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    wrapped = [_name(item) for key in ("allOf", "oneOf", "anyOf") for item in schema.get(key, ())]
    return next((name for name in wrapped if name and name not in ("NullEnum", "BlankEnum")), "")


def _kind(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    shape = _resolved(schema, shapes)
    if "enum" in shape:
        words = [str(item) if item else "nothing" for item in shape["enum"]]
        return "one of " + ", ".join(words)
    if shape.get("type") == "array":
        return f"list of {_kind(shape.get('items', {}), shapes)}"
    kind = str(shape.get("format") or shape.get("type") or "any")
    kind = {"double": "number", "int64": "integer", "uri": "address"}.get(kind, kind)
    return f"{kind} or null" if schema.get("nullable") else kind
