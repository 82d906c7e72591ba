"""C++ submissions: one file with a plain C entry point, compiled by g++ without torch headers."""

import hashlib
import json
import subprocess
from functools import cache

from runners.backends.base import Built, CompileFailed, Workshop
from runners.backends.cpp import screening, toolchain
from runners.backends.cpp.listing import listing
from runners.backends.cpp.tokens import mentions_function
from runners.backends.findings import as_hit, findings_of
from runners.contract.entry_point import ENTRY_POINT, declaration
from runners.contract.job import DeviceTarget
from runners.contract.result import CompileReport, Finding
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Language, Mode, Verdict
from runners.supervisor.outcome import Ended

_FLAGS = ("-O3", "-march=native", "-std=c++20", "-fopenmp", "-fPIC", "-Wall", "-fdiagnostics-color=never")
_SOURCE, _LIBRARY, _ASSEMBLY, _PREPROCESSED = "kernel.cpp", "kernel.so", "kernel.s", "kernel.ii"


class CppBackend:
    def screen(self, source: str, spec: TaskSpec) -> list[Finding]:
        if mentions_function(source, ENTRY_POINT):
            return findings_of(screening.hits(source), _SOURCE, spec)
        wanted = declaration(spec, Language.CPP)
        message = f"{_SOURCE} defines no {ENTRY_POINT}; the task asks for: {wanted}"
        return [{"rule": "entry_point_missing", "line": 1, "message": message, "refuses": True}]

    def build(
        self, source: str, spec: TaskSpec, target: DeviceTarget, mode: Mode, workshop: Workshop
    ) -> Built:
        """The shared library, from the cache when the same source was built before by the same compiler."""
        compiler = toolchain.find()
        if compiler is None:
            raise Ended(Verdict.INTERNAL_ERROR, "This runner has no g++.")
        compile_command = [compiler, *_FLAGS, "-shared", "-o", _LIBRARY, _SOURCE]
        # -w: what there is to warn of the compiler has said.
        preprocess = [compiler, *_FLAGS, "-w", "-E", "-o", _PREPROCESSED, _SOURCE]
        commands = [compile_command, preprocess, ["nm", "-D", "--defined-only", "-o", _LIBRARY]]
        wanted = [_LIBRARY, _PREPROCESSED]
        if mode == Mode.CHECK:
            commands.insert(1, [compiler, *_FLAGS, "-g1", "-S", "-o", _ASSEMBLY, _SOURCE])
            wanted.append(_ASSEMBLY)
        key = _key(source, commands, _version(compiler))
        report: CompileReport = {
            "command": " ".join(["g++", *compile_command[1:]]),
            "log": "",
            "seconds": 0.0,
            "cached": True,
        }
        kept = workshop.cached(key)
        if kept is not None:
            header, _, library = kept.partition(b"\n")
            known = json.loads(header)
            report["log"] = known["log"]
            return Built("library", library, report, findings_of(map(as_hit, known["hits"]), _SOURCE, spec))
        done = workshop.run(commands, {_SOURCE: source.encode()}, wanted)
        log, exported = _split(done.log)
        report |= {"log": log, "seconds": done.seconds, "cached": False}
        if done.code != 0:
            raise CompileFailed(_first_error(log), report)
        if not exported:
            raise CompileFailed(
                f'the library exports no symbol "{ENTRY_POINT}": declare it extern "C"', report
            )
        library = done.files[_LIBRARY]
        if not library.startswith(b"\x7fELF"):
            raise CompileFailed("the compiler wrote no shared library", report)
        if _ASSEMBLY in done.files:
            report["listing"] = [listing(done.files[_ASSEMBLY].decode(errors="replace"), _SOURCE)]
        hits = screening.hidden_hits(source, done.files.get(_PREPROCESSED, b""), _SOURCE)
        if mode != Mode.CHECK:
            workshop.store(key, json.dumps({"log": log, "hits": hits}).encode() + b"\n" + library)
        return Built("library", library, report, findings_of(hits, _SOURCE, spec))


def _split(log: str) -> tuple[str, bool]:
    """The compiler's lines, and whether nm's lines behind them name the entry point."""
    prefix = f"{_LIBRARY}: "
    if prefix not in log:
        prefix = f"{_LIBRARY}:"
    lines = log.splitlines()
    symbols = [line for line in lines if line.startswith(prefix)]
    exported = any(line.split()[-2:] == ["T", ENTRY_POINT] for line in symbols)
    return "\n".join(line for line in lines if not line.startswith(prefix)), exported


def _first_error(log: str) -> str:
    for line in log.splitlines():
        if "error:" in line:
            return line.strip()[:500]
    return (log.strip().splitlines() or ["g++ failed without a word"])[-1][:500]


def _key(source: str, commands: list[list[str]], version: str) -> str:
    text = json.dumps([source, commands, version, _processor()])
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _version(compiler: str) -> str:
    """The compiler's own version line: a newer one builds anew."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0]


@cache
def _processor() -> str:
    """-march=native means this processor: a cache on a shared disk must not serve another."""
    with open("/proc/cpuinfo") as lines:
        return next((line for line in lines if line.startswith(("flags", "Features"))), "")
