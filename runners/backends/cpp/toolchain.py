"""Finding the C++ compiler of this machine."""

import shutil


def find() -> str | None:
    """The path of g++, or None. Only where a sandbox shows it too, whatever this process's PATH says."""
    return shutil.which("g++", path="/usr/local/bin:/usr/bin:/bin")
