"""Runs compilers inside a sandbox and hands their files back through one memory file of fixed size.

The host never opens a path that the inside wrote: there is nothing to follow, link or grow.
"""

import os
import subprocess
import tempfile
from typing import Any

from runners.harness.control import Control, short

_LOG_LIMIT = 24_000  # characters, so that the log fits one packet


def main(control: Control) -> None:
    """Answers one request: ``commands``, ``files`` (name → length, in the first descriptor), ``wanted``
    names.
    """
    control.send({"event": "ready"})
    request, (given, result) = control.receive()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    with os.fdopen(given, "rb") as stream:
        for name, length in request["files"].items():
            with open(name, "wb") as file:
                file.write(stream.read(length))
    control.send({"event": "done", **_run(request, result)})


def _run(request: dict[str, Any], result: int) -> dict[str, Any]:
    logs: list[str] = []
    code = 0
    for command in request["commands"]:
        with tempfile.TemporaryFile() as log:
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False
            ).returncode
            log.seek(0)
            logs.append(log.read(_LOG_LIMIT * 4).decode(errors="replace"))
        if code != 0:
            break
    lengths: dict[str, int] = {}
    left = os.fstat(result).st_size
    if code == 0:
        for name in request["wanted"]:
            with open(name, "rb") as file:
                data = file.read(left + 1)
            if len(data) > left:
                return {"code": -1, "log": f"{name} is larger than the limit", "lengths": {}}
            view = memoryview(data)
            while view:
                view = view[os.write(result, view) :]
            lengths[name] = len(data)
            left -= len(data)
    return {"code": code, "log": short("".join(logs), _LOG_LIMIT), "lengths": lengths}
