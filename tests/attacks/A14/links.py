"""Replaces its own files by links to files of the host, and reads through them."""

import os
import pathlib

for name in ("kernel.py", "kernel.so", "result", "output.json"):
    for target in ("@SECRET@", "/etc/shadow", "/proc/1/environ"):
        path = pathlib.Path("/tmp", name)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        try:
            if "canary" in path.read_text(errors="replace"):
                print("READ", target)
        except OSError:
            pass
        try:
            os.link(target, f"/tmp/hard-{name}")
            print("READ", target)
        except OSError:
            pass


def kernel(x):
    return 2 * x + 1
