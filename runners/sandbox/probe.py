"""What the sandbox of this machine keeps out, found by trying. Run as ``python -m runners.sandbox.probe``.

A layer counts as proved when the attempt that it must stop was stopped; asking a kernel for its version
proves nothing. Tiers: T0 own uid, limits, empty environment · T1 also Landlock and seccomp, and births by
permission on devices whose clock stops the submission · T2 also namespaces.
"""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from runners.contract.vocabulary import DeviceKind
from runners.sandbox import bubblewrap, process_tree
from runners.sandbox.bounds import Bounds
from runners.sandbox.spawn import Layers, Plan, spawn

PROVED = "proved"
#: The tiers that exist, weakest first.
TIERS = ("T0", "T1", "T2")
_RANKS = ("none", *TIERS)
_SECONDS = 20


@dataclass(frozen=True)
class Probe:
    """The highest tier proved, and for each layer ``proved`` or the reason it is missing."""

    tier: str
    layers: Mapping[str, str]

    def usable(self) -> Layers:
        """The layers that runs on this machine put on."""
        proved = {name for name, word in self.layers.items() if word == PROVED}
        return Layers("landlock" in proved, "seccomp" in proved, "namespaces" in proved, "births" in proved)

    def tier_on(self, kind: str) -> str:
        """The tier for measuring on devices of ``kind``."""
        unsafe = kind == DeviceKind.CPU and self.layers.get("births") != PROVED
        return min(self.tier, TIERS[0], key=tier_number) if unsafe else self.tier

    def missing(self) -> str:
        """The layers that are not proved, for a sentence."""
        return (
            "; ".join(f"{name}: {word}" for name, word in self.layers.items() if word != PROVED) or "nothing"
        )


def tier_number(tier: str) -> int:
    """For comparing; raises ValueError for a word that is no tier."""
    if tier not in _RANKS:
        raise ValueError(f"{tier!r} is no sandbox tier ({', '.join(_RANKS)})")
    return _RANKS.index(tier)


@cache
def probe() -> Probe:
    """Probes in a process of its own, once per process."""
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-m", "runners.sandbox.probe"],
        env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin", "KERNELHUB_PROBE": "a secret of the runner"},
        capture_output=True,
        text=True,
        timeout=4 * _SECONDS,
        check=False,
        cwd="/",
    )
    try:
        return Probe(**json.loads(done.stdout))
    except (ValueError, TypeError):
        return Probe("none", {"probe": f"it failed: {done.stderr.strip()[-300:]}"})


def probe_cached(data_dir: str) -> Probe:
    """``probe()``, kept in ``data_dir`` until the machine boots anew or the code, uid or bubblewrap
    changes.
    """
    path = Path(data_dir) / "sandbox-probe.json"
    key = _cache_key()
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(path.read_text())
        if kept["key"] == key:
            return Probe(**kept["probe"])
    found = probe()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps({"key": key, "probe": asdict(found)}))
        draft.replace(path)
    return found


def _cache_key() -> list[object]:
    stamps = [
        (path.name, path.stat().st_mtime_ns)
        for folder in ("sandbox", "harness")
        for path in sorted((Path(__file__).resolve().parent.parent / folder).glob("*.py"))
    ]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    bwrap = bubblewrap.executable()
    return json.loads(json.dumps([boot, os.geteuid(), sys.executable, bwrap, bool(bwrap), stamps]))  # type: ignore[no-any-return]


def _find() -> Probe:
    layers: dict[str, str] = {}
    with (
        tempfile.TemporaryDirectory(prefix="kernelhub-probe-") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        for name in ("secret", "hidden"):
            (Path(folder) / name).write_text("x")
            (Path(folder) / name).chmod(0o644)
        os.chmod(folder, 0o755)  # noqa: S103 - nothing but the layers may stand in the way
        request = {
            "secret": f"{folder}/secret",
            "hidden": f"{folder}/hidden",
            "folders": ["/", "/usr", "/etc", "/var/tmp", "/dev"],  # noqa: S108 - must all fail
            "port": listener.getsockname()[1],
        }
        layers["namespaces"] = _judge(
            _attempt(Layers(False, False, True), request),
            ("root", "environment", "reads", "writes", "network", "processes"),
        )
        if bubblewrap.executable() is None:
            layers["namespaces"] = "bubblewrap is not installed"
        below = layers["namespaces"] == PROVED
        bare = _attempt(Layers(False, False, below), request)
        layers["own uid"] = _judge(bare, ("root", "environment", "new_privileges"))
        layers["landlock"] = _judge(_attempt(Layers(True, False, below), request), ("hidden",))
        if layers["landlock"] == PROVED and not (isinstance(bare, dict) and bare["hidden"]):
            layers["landlock"] = "not proved: the file is out of reach without it, too"
        calls = _attempt(Layers(False, True, below, births=False), request)
        layers["seccomp"] = _judge(calls, ("ptrace", "vsock"))
        layers["births"] = _judge(_attempt(Layers(False, True, below), request), ("unasked birth",))
        if layers["births"] == PROVED and not (isinstance(calls, dict) and calls["unasked birth"]):
            layers["births"] = "not proved: no process starts without it, too"
    tier = "none"
    for name, wanted in (("T0", ["own uid"]), ("T1", ["landlock", "seccomp"]), ("T2", ["namespaces"])):
        if any(layers[layer] != PROVED for layer in wanted):
            break
        tier = name
    return Probe(tier, layers)


def _judge(opened: dict[str, bool] | str, must_be_closed: tuple[str, ...]) -> str:
    if isinstance(opened, str):
        return opened
    failed = [name for name in must_be_closed if opened.get(name, True)]
    return f"not stopped: {', '.join(failed)}" if failed else PROVED


def _attempt(layers: Layers, request: dict[str, object]) -> dict[str, bool] | str:
    """Which forbidden things worked under ``layers``; a text when the sandbox did not start."""
    try:
        # Outside of every place that Landlock lets through, the sandbox's own /tmp among them.
        hidden = str(request["hidden"])
        place = "/forbidden" if layers.namespaces else hidden
        request = {**request, "hidden": place}
        started = spawn(Plan("probes", Bounds(), layers, forbidden_paths=[(hidden, place)], stopped=True))
    except OSError as error:
        return f"the sandbox does not start: {error}"
    gates: list[int] = []
    try:
        started.control.settimeout(_SECONDS)
        started.control.send(json.dumps(request).encode())
        answer, gates, _, _ = socket.recv_fds(started.control, 65536, 1)
        if gates:  # kept open and never answered
            answer = started.control.recv(65536)
        if answer:
            opened: dict[str, bool] = json.loads(answer)["open"]
            return opened
        select.select([started.stderr], [], [], 1)
        error_text = os.read(started.stderr, 65536).decode(errors="replace").strip()
        return f"the sandbox does not start: {error_text[-300:]}"
    except (OSError, ValueError) as error:
        return f"the sandbox does not answer: {error}"
    finally:
        process_tree.kill(started.root)
        started.process.kill()
        started.process.wait()
        started.close()
        for descriptor in gates:
            os.close(descriptor)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(_find())))
