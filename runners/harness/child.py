"""Loads the submission and calls it when told to. Its words report; they never decide.

Messages in: ``load`` (with a descriptor), ``case`` (with two), ``arm`` (which slots, in which order), ``go``.
Messages out: ``ready``, ``armed``, ``done`` with the nonce of its ``go``, ``error``.
"""

import contextlib
import ctypes
import errno
import faulthandler
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

from runners.harness.control import Control, short
from runners.harness.memory import Mapped
from runners.harness.place import CpuPlace, Nothing, Place

_MOST_LAUNCHES = 80
_SILENT = "6"  # above the last of kineto's levels
_RESOURCE_ERRNOS = {errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EMFILE, errno.EDQUOT}


def main(control: Control) -> None:
    serve(control, CpuPlace())


def serve(control: Control, place: Place) -> None:
    """Does what the supervisor asks for, until it is gone."""
    faulthandler.enable()
    kernel: Any = Nothing()
    case: dict[str, Any] = {}
    arenas: list[Mapped] = []
    calls: list[Callable[[], Any]] = []
    control.send({"event": "ready"})
    while True:
        message, descriptors = control.receive()
        try:
            match message["do"]:
                case "load":
                    kernel = _load(place, message["kind"], descriptors)
                    control.send({"event": "ready", "copies": not getattr(kernel, "takes_out", True)})
                case "case":
                    calls = []
                    for arena in arenas:
                        arena.unmap()
                    case = message
                    arenas = [
                        place.map(
                            descriptors[0], message["input_arena"], writable=message["inputs_writable"]
                        ),
                        place.map(descriptors[1], message["output_arena"], writable=True),
                    ]
                    control.send({"event": "ready"})
                case "arm":
                    calls = []  # gone before the new ones are made: what they hold may be large
                    calls = _bind(kernel, case, arenas, message["slots"])
                    control.send({"event": "armed"})
                case "go":
                    evidence = place.batch(kernel, calls)
                    control.send({"event": "done", "nonce": message["nonce"], **evidence})
                case "profile":
                    control.send({"event": "profile", **_profile(calls, descriptors)})
                case "flush":
                    sys.stdout.flush()
                    ctypes.CDLL(None).fflush(None)
                    control.send({"event": "ready"})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a submission raises is its answer
            traceback.print_exc()
            sys.stderr.flush()
            control.send({"event": "error", "kind": _kind(error), "text": short(_sentence(error))})


def _load(place: Place, kind: str, descriptors: list[int]) -> Any:
    if kind == "nothing":
        return Nothing()
    return place.load(kind, descriptors[0])


def _bind(
    kernel: Any, case: dict[str, Any], arenas: list[Mapped], slots: list[int]
) -> list[Callable[[], Any]]:
    """Calls on ``slots`` with all arguments made beforehand: one each, or one for all where C loops."""
    if hasattr(kernel, "bind_all"):
        return [kernel.bind_all(case, arenas[0], arenas[1], slots)]
    return [kernel.bind(case, arenas[0], arenas[1], slot) for slot in slots]


def _profile(calls: list[Callable[[], Any]], descriptors: list[int]) -> dict[str, Any]:
    """What torch's profiler sees of the calls; its trace, compressed, goes to the descriptor if it fits."""
    import torch

    # The profiler writes lines of its own to what is shown as the submission's output. Read as it starts.
    os.environ["KINETO_LOG_LEVEL"] = _SILENT
    with torch.profiler.profile() as profiler:
        for call in calls:
            call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    averages = profiler.key_averages()
    return {
        "table": short(averages.table(sort_by="self_cpu_time_total", row_limit=30), 30_000),
        "launches": _launches(averages),
        "trace_bytes": _write_trace(profiler, descriptors),  # also of one that did not fit
    }


def _write_trace(profiler: Any, descriptors: list[int]) -> int:
    import gzip

    path = os.path.join(tempfile.gettempdir(), "trace.json")
    content = b""
    with contextlib.suppress(OSError, RuntimeError):  # a profile without its trace is still one
        profiler.export_chrome_trace(path)
        with open(path, "rb") as file:
            content = gzip.compress(file.read())
        os.unlink(path)
    for descriptor in descriptors:
        if len(content) <= os.fstat(descriptor).st_size:
            os.pwrite(descriptor, content, 0)
        os.close(descriptor)
    return len(content)


def _launches(averages: Any) -> list[dict[str, Any]]:
    """What ran, longest first: kernels on the device, and operators on the CPU."""
    rows = []
    for event in averages:
        on_device = "CUDA" in str(event.device_type)
        microseconds = event.self_device_time_total if on_device else event.self_cpu_time_total
        rows.append((microseconds, event.key, event.count, on_device))
    rows.sort(key=lambda row: (not row[3], -row[0]))
    return [
        {"name": short(str(name), 160), "calls": count, "seconds": spent / 1e6, "on_device": on_device}
        for spent, name, count, on_device in rows[:_MOST_LAUNCHES]
    ]


def _kind(error: BaseException) -> str:
    """``contract``, ``resource``, ``device``, ``exit`` or ``exception``; the supervisor turns it into a
    verdict against us.
    """
    name = type(error).__name__
    if name in ("ContractError", "EntryPointError"):
        return "contract" if name == "ContractError" else "entry_point"
    if name == "OutOfMemoryError" or getattr(error, "out_of_memory", False):
        return "resource"
    if "CUDA error" in str(error):
        return "device"  # the context is lost as a rule
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
    if name in ("ContractError", "EntryPointError", "CudaError", "LaunchError"):
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
