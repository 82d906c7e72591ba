"""CUDA submissions: one .cu file with a plain C entry point, compiled by nvcc without torch headers.

The library holds machine code for the one architecture of the device and its own copy of the CUDA runtime, so
that the process that loads it needs the driver and nothing else.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from runners.backends.base import Built, CompileFailed, Workshop
from runners.backends.cpp import screening
from runners.backends.cpp.tokens import mentions_function
from runners.backends.cuda import ptx, ptxas, report, sass, toolchain
from runners.backends.cuda.architecture import Architecture, UnknownArchitectureError, architecture
from runners.backends.cuda.toolchain import Toolchain
from runners.backends.findings import as_hit, findings_of
from runners.contract.entry_point import ENTRY_POINT, declaration
from runners.contract.job import DeviceTarget
from runners.contract.result import CompileReport, Finding
from runners.contract.spec import CUDA_TYPE, TaskSpec
from runners.contract.vocabulary import Language, Mode, Verdict
from runners.supervisor.outcome import Ended

_SOURCE, _HEADER, _LIBRARY = "kernel.cu", "entry_point.h", "kernel.so"
_PTX, _NAMES, _USAGE, _SASS = "kernel.ptx", "names.ptx", "usage.log", "kernel.sass"
_PREPROCESSED = "preprocessed.ii"
#: nvcc's own name for the text that its host pass compiles; a release that calls it otherwise is no error.
_PREPROCESS = f"cp kernel.cpp4.ii {_PREPROCESSED} || : >{_PREPROCESSED}"
_STORED = 2  # the form of what is kept of a build; a new one makes the old ones unfindable
# --threads and --split-compile run nvcc's passes side by side; the device link is for code in several files.
_FLAGS = (
    "-O3", "-std=c++17", "-lineinfo", "--cudart", "static", "-shared", "-nodlink", "--keep",
    "--threads", "0", "--split-compile", "0", "-Wno-deprecated-gpu-targets",
    "-Xptxas", "-v", "-Xcompiler", "-fPIC,-Wall,-fdiagnostics-color=never",
)  # fmt: skip
#: nvcc's words for a second C function of the same name: the header's and the submission's.
_OTHER_SIGNATURE = f'overloaded function "{ENTRY_POINT}" has "C" linkage'
_MOST_LOG = 16_000  # bytes: what the workshop cuts off must not be what nm says behind it
# ptxas's resource lines go to a file of their own: behind many warnings they would fall to the log's cap.
_COMPILE = f"""
"$@" >nvcc.log 2>&1; code=$?
grep '^ptxas info\\|bytes stack frame' nvcc.log >{_USAGE}
grep -v '^ptxas info\\|bytes stack frame' nvcc.log | head -c {_MOST_LOG}
echo
exit $code
"""
_CALLS = """
extern "C" void kernelhub_calls(
    void* const* pointers, const int64_t* sizes, int64_t calls, cudaStream_t stream
) {
    for (; calls > 0; --calls, pointers += %d) kernel(%s);
}
"""
_LAST_ERROR = """
extern "C" const char* kernelhub_last_error() {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
"""
_INCLUDES = {"float16": "cuda_fp16.h", "bfloat16": "cuda_bf16.h"}
_SHOWN_MODES = (Mode.CHECK, Mode.PROFILE)


class CudaBackend:
    def screen(self, source: str, spec: TaskSpec) -> list[Finding]:
        if mentions_function(source, ENTRY_POINT):
            return findings_of(screening.hits(source), _SOURCE, spec)
        wanted = declaration(spec, Language.CUDA)
        message = f"{_SOURCE} defines no {ENTRY_POINT}; the task asks for: {wanted}"
        return [{"rule": "entry_point_missing", "line": 1, "message": message, "refuses": True}]

    def build(
        self, source: str, spec: TaskSpec, target: DeviceTarget, mode: Mode, workshop: Workshop
    ) -> Built:
        """The shared library. Check and profile mode add PTX and SASS, linked to the lines of the source."""
        try:
            tools = toolchain.find()
            place = architecture(str(target.facts.get("compute_capability") or ""))
        except (toolchain.NoCompilerError, UnknownArchitectureError) as error:
            raise Ended(Verdict.INTERNAL_ERROR, str(error)) from None
        shown = mode in _SHOWN_MODES
        files = {_SOURCE: source.encode(), _HEADER: _header(spec).encode()}
        command = _command(tools, place)
        key = _key(files, command, tools)
        kept = workshop.cached(key)
        if kept is not None:
            header, _, library = kept.partition(b"\n")
            known = json.loads(header)
            stored: CompileReport = known["report"]
            if not shown or "listing" in stored:
                found = findings_of(map(as_hit, known["hits"]), _SOURCE, spec)
                return Built("library", library, {**stored, "seconds": 0.0, "cached": True}, found)
        commands = [
            ["sh", "-c", _COMPILE, "sh", *command],
            ["nm", "-D", "--defined-only", "-o", _LIBRARY],
            ["sh", "-c", f"c++filt <{_PTX} >{_NAMES}; {_PREPROCESS}"],
        ]
        wanted = [_LIBRARY, _PTX, _NAMES, _USAGE, _PREPROCESSED]
        if shown and tools.nvdisasm:
            disassemble = f"{shlex.quote(tools.nvdisasm)} -c -gi kernel.cubin >{_SASS} || : >{_SASS}"
            commands.append(["sh", "-c", disassemble])
            wanted.append(_SASS)
        done = workshop.run(commands, files, wanted, more_paths=tools.folders)
        log, exported = _split(done.log)
        made: CompileReport = {
            "command": " ".join(["nvcc", *command[1:]]),
            "log": log,
            "seconds": done.seconds,
            "cached": False,
        }
        if done.code != 0:
            raise CompileFailed(_first_error(log, spec), made)
        if not exported:
            raise CompileFailed(f'the library exports no symbol "{ENTRY_POINT}": declare it extern "C"', made)
        library = done.files.get(_LIBRARY, b"")
        if not library.startswith(b"\x7fELF"):
            raise CompileFailed("the compiler wrote no shared library", made)
        _describe(made, done.files, place, shown)
        hits = screening.hidden_hits(source, done.files.get(_PREPROCESSED, b""), _SOURCE)
        kept_header = json.dumps({"report": made, "hits": hits})
        workshop.store(key, kept_header.encode() + b"\n" + library)
        return Built("library", library, made, findings_of(hits, _SOURCE, spec))


def _describe(made: CompileReport, files: Mapping[str, bytes], place: Architecture, shown: bool) -> None:
    """Adds the functions, and the listings when they are to be shown."""
    code = files.get(_PTX, b"").decode(errors="replace")
    names = ptx.names(code, files.get(_NAMES, b"").decode(errors="replace"))
    usages = ptxas.usages(files.get(_USAGE, b"").decode(errors="replace"))
    made["functions"] = report.functions(usages, ptx.launch_bounds(code), names, place)
    if not shown:
        return
    listings: list[dict[str, Any]] = [report.listing("ptx", ptx.listing(code, _SOURCE, names))]
    if files.get(_SASS):
        machine = files[_SASS].decode(errors="replace")
        listings.insert(0, report.listing("sass", sass.listing(machine, _SOURCE, names)))
    else:
        text = "Machine code is not shown: this runner has no nvdisasm, which comes with the CUDA toolkit."
        listings.append({"kind": "sass", "lines": [[None, text]]})
    made["listing"] = listings


def _header(spec: TaskSpec) -> str:
    """Included before the submission, so that a wrong signature is the compiler's error and not a crash.

    The runtime's last error can be asked for inside the library only, as each library has a runtime of its
    own.
    """
    dtypes = {tensor.dtype for tensor in (*spec.inputs, *spec.outputs)}
    includes = ["cstdint", "cuda_runtime.h", *(name for dtype, name in _INCLUDES.items() if dtype in dtypes)]
    lines = [f"#include <{name}>" for name in includes]
    return "\n".join([*lines, declaration(spec, Language.CUDA), _calls(spec), _LAST_ERROR])


def _calls(spec: TaskSpec) -> str:
    """The loop over the calls of a batch: ``pointers`` holds each call's inputs and outputs in turn."""
    types = [f"const {CUDA_TYPE[tensor.dtype]}*" for tensor in spec.inputs]
    types += [f"{CUDA_TYPE[tensor.dtype]}*" for tensor in spec.outputs]
    arguments = [f"({kind})pointers[{index}]" for index, kind in enumerate(types)]
    arguments += [f"sizes[{index}]" for index in range(len(spec.sizes))]
    return _CALLS % (len(types), ", ".join([*arguments, "stream"]))


def _command(tools: Toolchain, place: Architecture) -> list[str]:
    target = place.target
    architecture_flags = ["-gencode", f"arch=compute_{target},code=sm_{target}"]
    return [tools.nvcc, *_FLAGS, *architecture_flags, "-include", _HEADER, "-o", _LIBRARY, _SOURCE]


def _split(log: str) -> tuple[str, bool]:
    """The compiler's lines, and whether nm's lines behind them name the entry point."""
    lines = log.splitlines()
    symbols = [line for line in lines if line.startswith(f"{_LIBRARY}:")]
    exported = any(line.split()[-2:] == ["T", ENTRY_POINT] for line in symbols)
    return "\n".join(line for line in lines if not line.startswith(f"{_LIBRARY}:")).strip("\n"), exported


def _first_error(log: str, spec: TaskSpec) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for line in lines:
        if re.search(r"\b(fatal|error)\b", line):
            if _OTHER_SIGNATURE in line:
                return f"{line} (the task asks for: {declaration(spec, Language.CUDA)})"
            return line[:500]
    return (lines or ["nvcc failed without a word"])[-1][:500]


def _key(files: Mapping[str, bytes], command: list[str], tools: Toolchain) -> str:
    text = json.dumps(
        [
            _STORED,
            {name: data.decode() for name, data in files.items()},
            command,
            tools.release,
            tools.nvdisasm,
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()
