"""Compilers in a sandbox of their own, and the cache of what they built."""

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.backends.base import ToolRun
from runners.contract.vocabulary import Verdict
from runners.sandbox.spawn import Layers
from runners.supervisor.build_cache import BuildCache
from runners.supervisor.child import Child, Died
from runners.supervisor.outcome import Ended
from runners.supervisor.plan import workshop_plan
from runners.supervisor.sandboxes import Sandboxes
from runners.supervisor.stop import Stop

#: All files that one compilation hands back, bytes.
_MOST_RESULT = 128 * 2**20


class SandboxedWorkshop:
    """Implements Workshop. Compilers get ``cores`` only, any if empty, and no priority over other work."""

    def __init__(
        self,
        data_dir: str,
        seconds: float,
        layers: Layers,
        stop: Stop,
        cores: Sequence[int] = (),
        sandboxes: Sandboxes | None = None,
    ) -> None:
        self._cache = BuildCache(Path(data_dir) / "compile-cache")
        self._seconds = seconds
        self._layers = layers
        self._stop = stop
        self._cores = cores
        self._sandboxes = sandboxes or Sandboxes()

    def run(
        self,
        commands: Sequence[Sequence[str]],
        files: Mapping[str, bytes],
        wanted: Sequence[str],
        *,
        more_paths: Sequence[str] = (),
    ) -> ToolRun:
        plan = workshop_plan(self._layers, self._cores, more_paths)
        child = self._sandboxes.open(plan, self._stop)
        try:
            return run_commands(child, commands, files, wanted, self._seconds, "Compiling")
        except Died as error:
            raise Ended(Verdict.COMPILE_ERROR, f"The compiler {error}.") from None
        finally:
            child.close()

    def cached(self, key: str) -> bytes | None:
        return self._cache.get(key)

    def store(self, key: str, content: bytes) -> None:
        self._cache.put(key, content)


def run_commands(
    child: Child,
    commands: Sequence[Sequence[str]],
    files: Mapping[str, bytes],
    wanted: Sequence[str],
    seconds: float,
    what: str,
) -> ToolRun:
    """Runs ``commands`` in a started child of the role ``workshop``; as Workshop.run, but raises Died too.

    ``what`` completes "… took longer than 60 s".
    """
    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        given, result = (os.memfd_create(name, os.MFD_CLOEXEC) for name in ("given", "result"))
        stack.callback(os.close, given)
        stack.callback(os.close, result)
        for content in files.values():
            _write_all(given, content)
        os.lseek(given, 0, os.SEEK_SET)
        os.ftruncate(result, _MOST_RESULT)
        child.expect("ready", 30, "Starting the sandbox of a tool")
        request = {
            "commands": [list(command) for command in commands],
            "files": {name: len(content) for name, content in files.items()},
            "wanted": list(wanted),
        }
        child.send(request, [given, result])
        answer = child.expect("done", seconds, what)
        return ToolRun(
            code=int(answer.get("code", -1)),
            log=str(answer.get("log", "")),
            files=_read_back(result, answer.get("lengths"), wanted),
            seconds=time.monotonic() - start,
        )


def _read_back(result: int, lengths: object, wanted: Sequence[str]) -> dict[str, bytes]:
    """The wanted files, one behind the other in ``result``. The lengths come from inside: hostile."""
    files: dict[str, bytes] = {}
    if not isinstance(lengths, dict) or set(lengths) != set(wanted):
        return files
    offset = 0
    for name in wanted:
        length = lengths[name]
        if not isinstance(length, int) or not 0 <= length <= _MOST_RESULT - offset:
            return {}
        files[name] = os.pread(result, length, offset)
        offset += length
    return files


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
