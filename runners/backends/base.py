"""What a language must provide. To add one, implement Backend and name it in registry.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from runners.contract.job import DeviceTarget
from runners.contract.result import CompileReport, Finding
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Mode


@dataclass(frozen=True)
class ToolRun:
    """What a compiler in the workshop did."""

    code: int  # exit status of the last command that ran; the first failing one is the last
    log: str  # stdout and stderr of all commands, capped
    files: Mapping[str, bytes]  # the wanted files; empty unless code is 0
    seconds: float


class Workshop(Protocol):
    """Runs compilers in a sandbox of their own (supervisor/workshop.py)."""

    def run(
        self,
        commands: Sequence[Sequence[str]],
        files: Mapping[str, bytes],
        wanted: Sequence[str],
        *,
        more_paths: Sequence[str] = (),
    ) -> ToolRun:
        """Runs ``commands`` in turn in an empty folder holding ``files``; stops at the first that fails.

        ``more_paths`` are further read-only paths the compiler needs. Raises Ended for a limit that is hit.
        """

    def cached(self, key: str) -> bytes | None:
        """What ``store`` kept under ``key`` (64 hex digits)."""

    def store(self, key: str, content: bytes) -> None:
        """Keeps ``content`` for later evaluations, out of any submission's reach; not for ever, and not if it
        is large.
        """


@dataclass(frozen=True)
class Built:
    """A submission ready to be loaded."""

    kind: str  # how the harness loads it: "python" or "library"
    payload: bytes  # source text or shared library
    report: CompileReport | None = None
    findings: Sequence[Finding] = ()  # what only compiling brought to light


class CompileFailed(Exception):
    """The compiler refused the source; ``report`` has its words."""

    def __init__(self, reason: str, report: CompileReport | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.report = report


class Backend(Protocol):
    """One language."""

    def screen(self, source: str, spec: TaskSpec) -> list[Finding]:
        """Static findings; one with ``refuses`` ends the evaluation before anything runs."""

    def build(
        self, source: str, spec: TaskSpec, target: DeviceTarget, mode: Mode, workshop: Workshop
    ) -> Built:
        """Compiles. Raises CompileFailed with the compiler's log, Ended for a limit that is hit."""
