"""What the text of a C++ or CUDA submission shows at a glance: hints for a reader, never a wall.

The text is read twice: as written, and, once the compiler's preprocessor has put it together, as it is
compiled (``own_lines``), so that a name pasted from pieces is seen as well.
"""

import re
from collections.abc import Container, Iterator

from runners.backends.cpp.tokens import CALL, Token, bare, tokens
from runners.backends.findings import Hit
from runners.contract.rules import MOST_FINDINGS

#: Functions and name spaces of libraries whose kernels do the work.
_LIBRARY = re.compile(
    r"(cublas|cudnn|cusolver|cusparse|cufft|curandGen|cutensor|cblas_|LAPACKE_|mkl_|dnnl_|openblas_)\w+$"
    r"|([sdcz]|sb|hs)(gemm|gemv|axpy|syrk|trsm)_$"
    r"|(torch|at|c10|thrust|cutlass|Eigen|arma|xt|mlx)::|cub::Device"
)
_LIBRARY_FILE = re.compile(r"\blib(cublas|cudnn|cusolver|cufft|torch|openblas|mkl|blas|nvrtc)\w*\.so")
_THREADS = frozenset(
    {"std::thread", "std::jthread", "std::async", "pthread_create", "thrd_create", "fork", "vfork"}
    | {"posix_spawn", "system", "popen", "execve", "execv", "execvp"}
)
_MOST_LINES = 200_000  # a line directive may claim any number
_STREAMS = re.compile(
    r"cu(da)?StreamCreate\w*$|cudaStreamPerThread$|cu(da)?LaunchHostFunc$|cu(da)?StreamAddCallback$"
)
_GRAPHS = re.compile(r"cu(da)?StreamBeginCapture\w*$|cu(da)?GraphLaunch\w*$|cu(da)?GraphInstantiate\w*$")
_TIMERS = frozenset(
    {"clock_gettime", "gettimeofday", "timespec_get", "cudaEventElapsedTime", "cuEventElapsedTime"}
    | {"cudaEventRecord", "cuEventRecord", "cudaEventElapsedTime_v2", "cuEventElapsedTime_v2"}
)
#: What the shape of a declaration is told from, where comments and literals are bare.
_SHAPE = re.compile(r"""\d[\w']*|[A-Za-z_]\w*|["(){};]""")
#: Behind a list of parameters: a body, or what stands before one or in place of it.
_BODY = re.compile(
    r"\s*+(?:\{|<%|->|(?:\[|<:)\s*+(?:\[|<:)"
    r"|(?:noexcept|throw|try|asm|__asm__|__asm|__attribute__|__attribute)\b)"
)
#: In an attribute: the body is that of another function.
_ALIASES = frozenset({"alias", "__alias__", "ifunc", "__ifunc__", "weakref", "__weakref__"})
_AROUND = frozenset(
    {"ptrace", "process_vm_readv", "process_vm_writev", "dlopen", "dlsym", "dlvsym", "dl_iterate_phdr"}
    | {"mprotect", "backtrace", "environ", "getenv", "prctl", "__libc_start_main"}
)
_CODE = re.compile(r"nvrtc\w+$|cu(da)?ModuleLoad\w*$|cuLibraryLoad\w*$|cuLink\w+$|PROT_EXEC$|memfd_create$")
_PATHS = ("/proc/", "/dev/shm", "LD_PRELOAD")  # noqa: S108 - looked for, not written to
_MARKER = re.compile(r'#(?:line)? (\d+) "([^"]*)"')


def hits(text: str) -> Iterator[Hit]:
    """What the rules find in ``text``, with its own line numbers."""
    found: list[Token] = list(tokens(text))
    replaced = _replaced(text) if any(token.text in _TIMERS for token in found) else ()
    library = next((token.text for token in found if _is_library(token)), "")
    for token in found:
        if rule := _rule(token, replaced):
            yield token.line, rule, token.text[:80]
        elif token.text == "catch" and library:
            yield token.line, "exception_fallback", library[:80]


def own_lines(preprocessed: str, file: str) -> str:
    """The lines of ``file`` in a preprocessor's output, each at its own number, without those of headers."""
    lines: dict[int, list[str]] = {}
    number, own = 0, False
    for line in preprocessed.splitlines():
        if marker := _MARKER.match(line):
            number, own = int(marker[1]), marker[2].rpartition("/")[2] == file
            continue
        if own and number <= _MOST_LINES:
            lines.setdefault(number, []).append(line)
        number += 1
    last = max(lines, default=0)
    return "\n".join(" ".join(lines.get(index, ())) for index in range(1, last + 1))


def hidden_hits(source: str, preprocessed: bytes, file: str) -> list[Hit]:
    """What the rules find in the text as it is compiled, and did not find in that line as it was written."""
    seen = {(line, rule) for line, rule, _ in hits(source)}
    compiled = own_lines(preprocessed.decode(errors="replace"), file)
    return [hit for hit in hits(compiled) if (hit[0], hit[1]) not in seen][:MOST_FINDINGS]


def _replaced(text: str) -> set[tuple[int, str]]:
    """Line and name of each timer that ``text`` defines with parameters, as a function or as a macro.

    A call replaces nothing: streams are joined by events. Each piece of the text is looked at once.
    """
    found: set[tuple[int, str]] = set()
    opened: list[tuple[int, str] | None] = []  # timers whose parenthesis is open; None for other parentheses
    before, name, aliased = "", "", False
    line, counted = 1, 0
    code = bare(text)
    for match in _SHAPE.finditer(code):
        piece = match.group()
        if piece.isidentifier():
            before, name = name, piece
            aliased = aliased or (piece in _ALIASES and CALL.match(text, match.end()) is not None)
            if piece in _TIMERS:
                line, counted = line + text.count("\n", counted, match.start()), match.start()
            continue
        if piece == "(":
            timer = (line, name) if name in _TIMERS else None
            if timer and (aliased or before == "define"):
                found.add(timer)
            opened.append(timer)
        elif piece == ")" and opened:
            timer = opened.pop()
            body = _BODY.match(code, match.end()) if timer else None
            if timer and body and not ("\n" in body.group() and _is_directive(text, match.start())):
                found.add(timer)
        elif piece in "{};":
            aliased = False
        name = ""
    return found


def _is_directive(text: str, position: int) -> bool:
    """Whether the preprocessor takes the line, which a backslash joins to the one before: what follows in the
    next one does not belong to it.
    """
    start = text.rfind("\n", 0, position)
    while start > 0 and text[start - 1] == "\\":
        start = text.rfind("\n", 0, start)
    return text[start + 1 : position].lstrip().startswith("#")


def _rule(token: Token, replaced: Container[tuple[int, str]]) -> str:
    if token.is_string:
        return _rule_of_string(token.text)
    name = token.text.removeprefix("::")
    if _is_library(token):
        return "library_call"
    if name in _THREADS and (token.is_called or "::" in name):
        return "thread_use"
    if _STREAMS.match(name):
        return "stream_use"
    if _GRAPHS.match(name):
        return "graph_use"
    if name in _TIMERS and (not token.is_called or (token.line, name) in replaced):
        return "timer_patch"
    if name in _AROUND:
        return "harness_access"
    return "run_time_code" if _CODE.match(name) else ""


def _rule_of_string(text: str) -> str:
    """Names that are looked up while running, and paths."""
    if text in _TIMERS:
        return "timer_patch"
    if _LIBRARY_FILE.search(text):
        return "library_call"
    return "harness_access" if any(path in text for path in _PATHS) else ""


def _is_library(token: Token) -> bool:
    return not token.is_string and bool(_LIBRARY.match(token.text.removeprefix("::")))
