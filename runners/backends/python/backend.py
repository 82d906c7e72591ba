"""Python submissions: parsed for their entry point and what else shows, compiled by nobody."""

import ast

from runners.backends.base import Built, Workshop
from runners.backends.python.screening import screen
from runners.contract.entry_point import ENTRY_POINT, python_signature
from runners.contract.job import DeviceTarget
from runners.contract.result import Finding
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Mode


class PythonBackend:
    def screen(self, source: str, spec: TaskSpec) -> list[Finding]:
        try:
            tree = ast.parse(source, "kernel.py")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            text = getattr(error, "msg", None) or str(error) or type(error).__name__
            return [
                {
                    "rule": "syntax",
                    "line": line,
                    "message": f"kernel.py, line {line}: {text}",
                    "refuses": True,
                }
            ]
        if any(ENTRY_POINT in _names(node) for node in ast.walk(tree)):
            return screen(tree, spec)
        message = f"kernel.py defines no {ENTRY_POINT}; the task asks for: {python_signature(spec)}"
        return [{"rule": "entry_point_missing", "line": 1, "message": message, "refuses": True}]

    def build(
        self, source: str, spec: TaskSpec, target: DeviceTarget, mode: Mode, workshop: Workshop
    ) -> Built:
        return Built("python", source.encode())


def _names(node: ast.AST) -> set[str]:
    """The names that a statement binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Name(id=name, ctx=ast.Store()):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {item.asname or item.name for item in names}
        case _:
            return set()
