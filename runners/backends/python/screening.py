"""What the text of a Python submission shows at a glance: hints for a reader, never a wall.

Each rule classifies and warns. A name in the source proves nothing and hiding one is easy; what decides is
that outputs are compared and time is measured outside the submission's process.
"""

import ast
from collections.abc import Iterator, Mapping

from runners.backends.cpp import screening as c_screening
from runners.backends.findings import Hit, findings_of
from runners.contract.result import Finding
from runners.contract.spec import TaskSpec

#: torch functions that are whole kernels of a library, whichever task it is.
_LIBRARY = frozenset(
    {"matmul", "mm", "bmm", "mv", "addmm", "baddbmm", "einsum", "linear", "conv1d", "conv2d", "conv3d"}
    | {"softmax", "log_softmax", "logsumexp", "layer_norm", "rms_norm", "group_norm", "batch_norm", "gelu"}
    | {"scaled_dot_product_attention", "cross_entropy", "cumsum", "cumprod", "sort", "topk", "histc"}
    | {"bincount", "scatter_add", "index_add"}
    | {"Linear", "Conv1d", "Conv2d", "Conv3d", "Softmax", "LogSoftmax", "LayerNorm", "RMSNorm", "GELU"}
    | {"GroupNorm", "BatchNorm1d", "BatchNorm2d", "MultiheadAttention", "CrossEntropyLoss", "Embedding"}
)
#: numpy's share of the work where it is called by its module.
_NUMPY = frozenset({"dot", "matmul", "einsum", "exp", "sum", "max", "cumsum", "sort", "tanh", "bincount"})
#: Made or asked of a tensor by almost every submission; says nothing about who does the work.
_PLAIN = frozenset(
    {"empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "arange"}
    | {"tensor", "device", "dtype", "size", "numel", "view", "reshape", "contiguous", "unsqueeze"}
    | {"squeeze", "t", "transpose", "permute", "to", "float", "double"}
)
#: Modules whose functions have torch's names but are part of a kernel of one's own, or count nothing.
_OWN = frozenset({"triton", "math"})
_TIMERS = frozenset(
    {"time", "statistics", "torch.cuda", "torch.cuda.Event", "timeit", "torch.utils.benchmark"}
)
_THREADS = frozenset({"threading", "_thread", "multiprocessing", "concurrent", "asyncio", "subprocess"})
_STREAMS = frozenset({"Stream", "ExternalStream", "stream", "set_stream"})
_GRAPHS = frozenset({"CUDAGraph", "graph", "make_graphed_callables"})
_FRAMES = frozenset({"_getframe", "currentframe", "get_objects", "get_referrers", "f_locals", "f_back"})
_MODEL = frozenset({"Model", "Reference", "ReferenceModel"})


def screen(tree: ast.Module, spec: TaskSpec) -> list[Finding]:
    """The first findings, in the order of their lines. None refuses unless the task forbids its rule."""
    library = _LIBRARY | (_called(ast.parse(spec.reference)) - _PLAIN)
    look = _Look(_aliases(tree), frozenset(library))
    return findings_of((hit for node in ast.walk(tree) for hit in look.hits(node)), "kernel.py", spec)


class _Look:
    """The rules, for a source in which ``aliases`` maps names to the modules and functions they stand for."""

    def __init__(self, aliases: Mapping[str, str], library: frozenset[str]) -> None:
        self._aliases = aliases
        self._library = library

    def hits(self, node: ast.AST) -> Iterator[Hit]:
        match node:
            case ast.Call():
                yield from self._call(node)
            case ast.BinOp(op=ast.MatMult(), lineno=line):
                yield line, "library_call", "@"
            case ast.Try(handlers=handlers):
                for handler in handlers:
                    names = sorted(_called(handler) & (self._library | {"kernel", "reference"}))
                    if names:
                        yield handler.lineno, "exception_fallback", names[0]
            case ast.ClassDef(bases=bases, lineno=line):
                for base in bases:
                    if self._path(base).rpartition(".")[2] in _MODEL:
                        yield line, "inherited_reference", self._path(base)
            case ast.Import(names=names, lineno=line):
                for item in names:
                    yield from _import(item.name, line)
            case ast.ImportFrom(module=module, lineno=line):
                yield from _import(module or "", line)
            case ast.Assign(targets=targets, lineno=line):
                for target in targets:
                    if isinstance(target, ast.Attribute) and self._path(target.value) in _TIMERS:
                        yield line, "timer_patch", self._path(target)
            case ast.Attribute(attr=name, lineno=line) if name in _FRAMES:
                yield line, "harness_access", name
            case ast.Constant(value=str() as text, lineno=line) if _looks_like_c(text):
                yield from ((line + number - 1, rule, what) for number, rule, what in c_screening.hits(text))

    def _call(self, node: ast.Call) -> Iterator[Hit]:
        path, line = self._path(node.func), node.lineno
        root, _, _ = path.partition(".")
        name = path.rpartition(".")[2]
        named = "." in path or isinstance(node.func, ast.Attribute)
        if path.startswith("torch.ops.aten.") or path == "torch.compile":
            yield line, "library_call", path
        elif root == "numpy":
            if name in _NUMPY:
                yield line, "library_call", path
        elif named and name in self._library and root not in _OWN:
            yield line, "library_call", path
        elif path in ("exec", "eval", "compile", "__import__"):
            yield line, "run_time_code", path
        elif name in _STREAMS and "cuda" in path:
            yield line, "stream_use", path
        elif name in _GRAPHS and "cuda" in path:
            yield line, "graph_use", path
        elif name == "fork":
            yield line, "thread_use", path
        elif path in ("getattr", "setattr") and len(node.args) > 1:
            yield from self._by_name(path, node)

    def _by_name(self, function: str, node: ast.Call) -> Iterator[Hit]:
        """``getattr(torch, "softmax")``, ``setattr(time, "time", …)``."""
        of, what = self._path(node.args[0]), node.args[1]
        if not (isinstance(what, ast.Constant) and isinstance(what.value, str)):
            return
        if function == "setattr" and of in _TIMERS:
            yield node.lineno, "timer_patch", f"{of}.{what.value}"
        elif function == "getattr" and what.value in self._library and of.partition(".")[0] == "torch":
            yield node.lineno, "library_call", f"{of}.{what.value}"

    def _path(self, node: ast.expr) -> str:
        """``torch.cuda.Stream`` of such an expression, whatever torch was imported as."""
        root, dot, rest = _path(node).partition(".")
        return self._aliases.get(root, root) + dot + rest


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What imported names stand for: ``F`` → ``torch.nn.functional``."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found |= {item.asname: item.name for item in names if item.asname}
            case ast.ImportFrom(module=str() as module, names=names):
                found |= {item.asname or item.name: f"{module}.{item.name}" for item in names}
    return found


def _import(module: str, line: int) -> Iterator[Hit]:
    top = module.partition(".")[0]
    if top in _THREADS:
        yield line, "thread_use", module
    elif top == "reference":
        yield line, "inherited_reference", module
    elif top in ("gc", "runners"):
        yield line, "harness_access", module


def _looks_like_c(text: str) -> bool:
    """Whether a text within the source is a source itself, as load_inline takes it."""
    return "\n" in text and "{" in text and ";" in text


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
