"""What compilers built, kept for later evaluations within a bound. Out of any submission's reach."""

import contextlib
import os
import tempfile
from pathlib import Path

MOST_BYTES = 2 * 2**30
MOST_ENTRIES = 20_000
#: A larger artefact is built anew each time: a source of one line can ask for any size.
MOST_ENTRY_BYTES = 16 * 2**20


class BuildCache:
    """A folder of files named by key. Several supervisors may use it at once."""

    def __init__(
        self, folder: Path, most_bytes: int = MOST_BYTES, most_entry_bytes: int = MOST_ENTRY_BYTES
    ) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._most_entry_bytes = most_entry_bytes

    def get(self, key: str) -> bytes | None:
        """What is kept under ``key``, which counts as used just now."""
        path = self._folder / key
        try:
            content = path.read_bytes()
            os.utime(path)
        except FileNotFoundError:
            return None
        return content

    def put(self, key: str, content: bytes) -> None:
        """Keeps ``content`` if it is small enough, and drops what was not used for longest."""
        if len(content) > self._most_entry_bytes:
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(name, self._folder / key)  # whole or not at all, whoever else stores the same
        self._trim()

    def _trim(self) -> None:
        """Drops the oldest entries, and drafts that a killed supervisor left, until all bounds hold."""
        entries: list[tuple[int, int, str]] = []
        for entry in os.scandir(self._folder):
            with contextlib.suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                entries.append((status.st_mtime_ns, status.st_size, entry.path))
        entries.sort()
        total, count = sum(size for _, size, _ in entries), len(entries)
        for _, size, path in entries:
            if total <= self._most_bytes and count <= MOST_ENTRIES:
                return
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            total, count = total - size, count - 1
