"""What the text of a Python submission shows at a glance: hints for a reader, never a wall.

Each rule classifies and warns. A name in the source proves nothing and hiding one is easy; what decides is
that outputs are compared and time is measured outside the submission's process.
"""

import ast
from collections.abc import Iterator

from runners.contract.result import Finding
from runners.contract.spec import TaskSpec

#: torch functions that are whole kernels of a library, whichever task it is.
_LIBRARY = frozenset(
    {"matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "linear", "conv1d", "conv2d", "conv3d"}
    | {"softmax", "log_softmax", "logsumexp", "layer_norm", "rms_norm", "group_norm", "batch_norm", "gelu"}
    | {"scaled_dot_product_attention", "cross_entropy", "cumsum", "cumprod", "sort", "topk", "histc"}
    | {"bincount", "scatter_add", "index_add"}
)
#: Made or asked of a tensor by almost every submission; says nothing about who does the work.
_PLAIN = frozenset(
    {"empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "arange"}
    | {"tensor", "device", "dtype", "size", "numel", "view", "reshape", "contiguous", "unsqueeze"}
    | {"squeeze", "t", "transpose", "permute", "to", "float", "double"}
)
#: Modules whose functions have torch's names but are part of a kernel of one's own, or count nothing.
_OWN = frozenset({"tl", "math", "np", "numpy", "triton"})
_TIMERS = frozenset(
    {"time", "statistics", "torch.cuda", "torch.cuda.Event", "timeit", "torch.utils.benchmark"}
)
_THREADS = frozenset({"threading", "_thread", "multiprocessing", "concurrent", "asyncio"})
_FRAMES = frozenset({"_getframe", "currentframe", "get_objects", "get_referrers", "f_locals", "f_back"})
_MODEL = frozenset({"Model", "Reference", "ReferenceModel"})

#: Findings kept: a source of one call a line must not fill the result.
_MOST = 200

_MESSAGES = {
    "library_call": "calls {0}, which is a library's kernel",
    "exception_fallback": "falls back to {0} when something is raised",
    "inherited_reference": "takes over {0} instead of an implementation of its own",
    "timer_patch": "replaces {0}, which times nothing here",
    "thread_use": "uses {0}; work that outlives the call is found",
    "stream_use": "uses {0}; work on other streams is waited for",
    "harness_access": "looks around with {0}",
    "run_time_code": "runs text as code with {0}",
}


def screen(tree: ast.Module, spec: TaskSpec) -> list[Finding]:
    """The first findings, in the order of their lines; none of them refuses."""
    library = _LIBRARY | (_called(ast.parse(spec.reference)) - _PLAIN)
    found = {
        (line, rule, subject)
        for node in ast.walk(tree)
        for rule, line, subject in _hits(node, frozenset(library))
    }
    return [
        {
            "rule": rule,
            "line": line,
            "message": f"kernel.py, line {line}: {_MESSAGES[rule].format(subject)}",
            "refuses": False,
        }
        for line, rule, subject in sorted(found)[:_MOST]
    ]


def _hits(node: ast.AST, library: frozenset[str]) -> Iterator[tuple[str, int, str]]:
    """(rule, line, what it is about) for one node of the tree."""
    match node:
        case ast.Call(func=function, lineno=line):
            yield from _call(function, line, library)
        case ast.Try(handlers=handlers):
            for handler in handlers:
                names = sorted(_called(handler) & (library | {"kernel", "reference"}))
                if names:
                    yield "exception_fallback", handler.lineno, names[0]
        case ast.ClassDef(bases=bases, lineno=line):
            for base in bases:
                if _path(base).rpartition(".")[2] in _MODEL:
                    yield "inherited_reference", line, _path(base)
        case ast.Import(names=names, lineno=line):
            for item in names:
                yield from _import(item.name, line)
        case ast.ImportFrom(module=module, lineno=line):
            yield from _import(module or "", line)
        case ast.Assign(targets=targets, lineno=line):
            for target in targets:
                if isinstance(target, ast.Attribute) and _path(target.value) in _TIMERS:
                    yield "timer_patch", line, _path(target)
        case ast.Attribute(attr=name, lineno=line) if name in _FRAMES:
            yield "harness_access", line, name


def _call(function: ast.expr, line: int, library: frozenset[str]) -> Iterator[tuple[str, int, str]]:
    path = _path(function)
    name = path.rpartition(".")[2]
    if isinstance(function, ast.Attribute) and name in library and path.partition(".")[0] not in _OWN:
        yield "library_call", line, path
    elif path in ("exec", "eval", "compile"):
        yield "run_time_code", line, path
    elif name in ("Stream", "stream") and "cuda" in path:
        yield "stream_use", line, path
    elif name == "fork":
        yield "thread_use", line, path


def _import(module: str, line: int) -> Iterator[tuple[str, int, str]]:
    top = module.partition(".")[0]
    if top in _THREADS:
        yield "thread_use", line, module
    elif top == "reference":
        yield "inherited_reference", line, module
    elif top in ("gc", "runners"):
        yield "harness_access", line, module


def _called(tree: ast.AST) -> set[str]:
    """The last names of all calls of attributes and names below ``tree``."""
    return {_path(node.func).rpartition(".")[2] for node in ast.walk(tree) if isinstance(node, ast.Call)}


def _path(node: ast.expr) -> str:
    """``torch.cuda.Stream`` of such an expression; what comes before a call or an index is left out."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):  # no recursion: the parser takes deeper chains than Python's stack
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(node.id)
    return ".".join(reversed(names))
