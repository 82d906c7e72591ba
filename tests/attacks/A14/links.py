"""Replaces its own files by links to files of the host, and reads through them."""

import errno
import os
import pathlib

for name in ("kernel.py", "kernel.so", "result", "output.json"):
    for target in ("@SECRET@", "/etc/shadow", "/proc/1/environ"):
        path = pathlib.Path("/tmp", name)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        try:
            print("READ" if "canary" in path.read_text(errors="replace") else "tried, harmless:", target)
        except OSError as error:
            print("tried", target, errno.errorcode[error.errno])
        try:
            os.link(target, f"/tmp/hard-{name}")
            print("READ", target)
        except OSError as error:
            print("tried a hard link to", target, errno.errorcode[error.errno])


def kernel(x):
    return 2 * x + 1
