"""Loads the submission and calls it when told to. Its words report; they never decide.

Messages in: ``load`` (with a descriptor), ``case`` (with two), ``arm`` (which slots, in which order), ``go``.
Messages out: ``ready``, ``armed``, ``done`` with the nonce of its ``go``, ``error``.
"""

import errno
import faulthandler
import sys
import traceback
from collections.abc import Callable
from typing import Any

from runners.harness.control import Control, short
from runners.harness.memory import Mapped, map_arena

_RESOURCE_ERRNOS = {errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EMFILE, errno.EDQUOT}


class _Nothing:
    """No work at all: what a batch costs by itself."""

    def bind(self, case: dict[str, Any], inputs: Mapped, outputs: Mapped, slot: int) -> Callable[[], None]:
        return lambda: None


def main(control: Control) -> None:
    faulthandler.enable()
    kernel: Any = _Nothing()
    case: dict[str, Any] = {}
    arenas: list[Mapped] = []
    calls: list[Callable[[], Any]] = []
    control.send({"event": "ready"})
    while True:
        message, descriptors = control.receive()
        try:
            match message["do"]:
                case "load":
                    kernel = _load(message["kind"], descriptors)
                    control.send({"event": "ready", "copies": not getattr(kernel, "takes_out", True)})
                case "case":
                    calls = []
                    for arena in arenas:
                        arena.unmap()
                    case = message
                    arenas = [
                        map_arena(
                            descriptors[0], message["input_arena"], writable=message["inputs_writable"]
                        ),
                        map_arena(descriptors[1], message["output_arena"], writable=True),
                    ]
                    control.send({"event": "ready"})
                case "arm":
                    calls = [kernel.bind(case, arenas[0], arenas[1], slot) for slot in message["slots"]]
                    control.send({"event": "armed"})
                case "go":
                    for call in calls:
                        call()
                    control.send({"event": "done", "nonce": message["nonce"]})
                case "profile":
                    control.send({"event": "profile", **_profile(calls)})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a submission raises is its answer
            traceback.print_exc()
            sys.stderr.flush()
            control.send({"event": "error", "kind": _kind(error), "text": short(_sentence(error))})


def _load(kind: str, descriptors: list[int]) -> Any:
    if kind == "library":
        from runners.harness.c_kernel import CKernel

        return CKernel(descriptors[0])
    if kind in ("python", "copy"):
        from runners.harness.python_kernel import CopyOnly, PythonKernel

        return PythonKernel(descriptors[0]) if kind == "python" else CopyOnly()
    return _Nothing()


def _profile(calls: list[Callable[[], Any]]) -> dict[str, Any]:
    import torch

    with torch.profiler.profile() as profiler:
        for call in calls:
            call()
    return {
        "table": short(profiler.key_averages().table(sort_by="self_cpu_time_total", row_limit=30), 30_000)
    }


def _kind(error: BaseException) -> str:
    """``contract``, ``resource``, ``exit`` or ``exception``; the supervisor turns it into a verdict
    against us.
    """
    name = type(error).__name__
    if name in ("ContractError", "EntryPointError"):
        return "contract" if name == "ContractError" else "entry_point"
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _RESOURCE_ERRNOS):
        return "resource"
    text = str(error)
    if isinstance(error, RuntimeError) and (
        "can't allocate memory" in text or "can't start new thread" in text
    ):
        return "resource"
    return "exit" if isinstance(error, SystemExit) else "exception"


def _sentence(error: BaseException) -> str:
    """``ValueError: text (kernel.py, line 3)``: the innermost line of the submission."""
    name = type(error).__name__
    if name in ("ContractError", "EntryPointError"):
        return str(error)
    if isinstance(error, SyntaxError) and error.filename and error.filename.endswith("kernel.py"):
        return f"{name}: {error.msg} (kernel.py, line {error.lineno})"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.endswith("/kernel.py")
    ]
    where = f" (kernel.py, line {lines[-1]})" if lines else ""
    return f"{name}: {error}{where}"
