"""Namespaces and a minimal read-only file system through bubblewrap (T2)."""

import os
import shutil
from collections.abc import Mapping, Sequence


def executable() -> str | None:
    """The system's bubblewrap, or None."""
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")


def command(
    bwrap: str,
    binds: Sequence[tuple[str, str]],
    devices: Sequence[str],
    bounds: Mapping[str, int],
    inner: Sequence[str],
) -> list[str]:
    """bubblewrap's argument list. ``binds`` are (source, place inside), mounted read-only.

    bubblewrap itself must be started with the inner environment: ``--clearenv`` would leave the outer one
    readable in /proc/1/environ.
    """
    arguments = [bwrap, "--unshare-user", "--unshare-all", "--disable-userns"]
    # No session of its own either: the launcher made one and gave it its place before other work, which a new
    # one would lose. So it has no terminal that the inside could type into.
    arguments += ["--die-with-parent", "--hostname", "sandbox"]
    # The writable places first: what is mounted read-only may itself lie under /tmp.
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    # No terminals: one that hangs up makes the kernel continue a stopped process.
    arguments += ["--size", "4096", "--tmpfs", "/dev/pts"]
    arguments += ["--size", str(bounds["tmp"]), "--tmpfs", "/tmp"]  # noqa: S108 - the sandbox's own
    arguments += ["--size", str(bounds["shm"]), "--tmpfs", "/dev/shm"]  # noqa: S108
    for source, place in binds:
        arguments += ["--ro-bind", source, place]
    for link in ("bin", "sbin", "lib", "lib64", "lib32"):
        if os.path.islink(f"/{link}"):
            arguments += ["--symlink", os.readlink(f"/{link}"), f"/{link}"]
    for device in devices:
        arguments += ["--dev-bind", device, device]
    # bubblewrap's root and /dev are tmpfs of half the memory: read-only, or they are a disk without a limit.
    for place in ("/dev/pts", "/dev", "/"):
        arguments += ["--remount-ro", place]
    arguments += ["--chdir", "/tmp", "--"]  # noqa: S108
    return [*arguments, *inner]
