"""Starting a sandbox: the supervisor's side. One call, one process tree, one control socket, two output
pipes.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runners.sandbox import bubblewrap
from runners.sandbox.bounds import Bounds

#: Where this code lies inside the sandbox.
_INSIDE = "/kernelhub"
_PACKAGE = Path(__file__).resolve().parent.parent
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "OpenCL")


@dataclass(frozen=True)
class Layers:
    """Which layers are put on. The probe finds what the machine can; jobs use all of it."""

    landlock: bool = True
    seccomp: bool = True
    namespaces: bool = True
    births: bool = True  # only together with seccomp, which refuses what it could not read


@dataclass(frozen=True)
class Plan:
    """What to start. ``role`` names a module of runners.harness with a function ``main(control)``."""

    role: str
    bounds: Bounds
    layers: Layers = field(default_factory=Layers)
    cores: Sequence[int] = ()
    before_others: bool = True  # at a raised priority where we may: for what is measured
    packages: bool = False  # third-party Python packages (torch) are visible
    imports: Sequence[str] = ()  # modules that are loaded inside before anything is asked for
    imports_ahead: Sequence[str] = ()  # further ones, where the sandbox is started before it is needed
    devices: Sequence[str] = ()  # device nodes let through
    more_paths: Sequence[str] = ()  # further read-only paths, at their own place
    #: Visible, but left out of Landlock's list, as (source, place inside): for the probe.
    forbidden_paths: Sequence[tuple[str, str]] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    #: TCP among the sandbox's own processes; none without namespaces, as the network would be the host's.
    loopback: bool = False
    #: It is stopped and continued: no process may start inside but while the supervisor listens (births.py).
    stopped: bool = False

    @property
    def gated(self) -> bool:
        """Whether that is so here."""
        return self.stopped and self.layers.seccomp and self.layers.births


@dataclass
class Sandboxed:
    """A started sandbox. The pipes are non-blocking; the control socket carries one JSON document per
    packet.
    """

    process: subprocess.Popen[bytes]
    control: socket.socket
    stdout: int
    stderr: int
    directory: tempfile.TemporaryDirectory[str] | None
    #: All that runs inside descends from this process. Without a PID namespace orphans re-parent to the
    #: supervisor, a subreaper, so that the tree starts there.
    root: int

    def close(self) -> None:
        """Closes this side; the process must have been killed before."""
        self.control.close()
        os.close(self.stdout)
        os.close(self.stderr)
        if self.directory is not None:
            self.directory.cleanup()


def spawn(plan: Plan) -> Sandboxed:
    """Starts ``plan`` and returns at once. Raises OSError when the launcher cannot be started."""
    bwrap = bubblewrap.executable() if plan.layers.namespaces else None
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    plan_file = os.memfd_create("plan")
    directory = None if bwrap else tempfile.TemporaryDirectory(prefix="kernelhub-run-")
    if directory is not None and os.geteuid() == 0:
        os.chmod(directory.name, 0o777)  # noqa: S103 - the run's own uid must write here
    try:
        with os.fdopen(os.dup(plan_file), "wb") as stream:
            document = _document(plan, bwrap, theirs.fileno(), directory.name if directory else "/tmp")  # noqa: S108
            stream.write(json.dumps(document).encode())
        os.lseek(plan_file, 0, os.SEEK_SET)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PACKAGE / "sandbox" / "launch.py"), str(plan_file)],
            stdin=subprocess.DEVNULL,
            stdout=out_write,
            stderr=err_write,
            pass_fds=(plan_file, theirs.fileno()),
            env={},
        )
    except BaseException:
        ours.close()
        os.close(out_read)
        os.close(err_read)
        raise
    finally:
        theirs.close()
        for descriptor in (out_write, err_write, plan_file):
            os.close(descriptor)
    os.set_blocking(out_read, False)
    os.set_blocking(err_read, False)
    root = process.pid if bwrap else os.getpid()
    return Sandboxed(process, ours, out_read, err_read, directory, root)


def _document(plan: Plan, bwrap: str | None, control: int, directory: str) -> dict[str, object]:
    paths = _paths(plan)
    inside = _INSIDE if bwrap else str(_PACKAGE.parent)
    code = [
        (str(_PACKAGE / name), f"{_INSIDE}/runners/{name}") for name in ("__init__.py", "sandbox", "harness")
    ]
    binds = [*((path, path) for path in paths), *plan.forbidden_paths, *code]
    settings = {
        "role": plan.role,
        "control": control,
        "threads": plan.bounds.threads,
        "imports": [*plan.imports, *plan.imports_ahead],
        "landlock": plan.layers.landlock,
        "loopback": plan.loopback and bwrap is not None,
        "seccomp": plan.layers.seccomp,
        "gated": plan.gated,
        "read": [*paths, *([inside] if bwrap else [source for source, _ in code]), "/proc", "/dev"],
        "write": [directory, "/dev", "/proc"] if bwrap else [directory, "/dev/null", "/proc/self"],
    }
    interpreter = [sys.executable if plan.packages else _plain_python(), "-I", "-B"]
    if not plan.packages:
        interpreter.append("-S")
    threads = str(len(plan.cores) or os.cpu_count() or 1)
    return {
        "parent": os.getpid(),
        "bwrap": bwrap,
        "binds": binds,
        "devices": list(plan.devices),
        "cores": list(plan.cores),
        "before_others": plan.before_others,
        "bounds": plan.bounds.to_document(),
        "directory": directory,
        "command": [*interpreter, f"{inside}/runners/harness/start.py", json.dumps(settings)],
        "environment": {
            # Last, as a tool of the machine goes before one that came with a package: ninja, for extensions.
            "PATH": "/usr/local/bin:/usr/bin:/bin" + (f":{sys.prefix}/bin" if plan.packages else ""),
            "HOME": directory,
            "TMPDIR": directory,
            "USER": "kernel",
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            **plan.environment,
        },
    }


def _paths(plan: Plan) -> list[str]:
    """Read-only paths, parents before what lies below them, each once."""
    wanted = ["/usr", *(f"/etc/{name}" for name in _ETC), sys.base_prefix, *plan.more_paths]
    if plan.packages:
        wanted.append(sys.prefix)
    for link in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.isdir(link) and not os.path.islink(link):
            wanted.append(link)
    kept: list[str] = []
    for path in sorted(set(wanted)):
        if os.path.exists(path) and not any(path.startswith(f"{parent}/") for parent in kept):
            kept.append(path)
    return kept


def _plain_python() -> str:
    """The interpreter itself rather than a virtual environment's link to it."""
    return os.path.realpath(sys.executable)
