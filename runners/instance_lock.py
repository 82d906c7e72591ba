"""One process per device instance of a host. No Django, so that a lone evaluation can take it too."""

import fcntl
from pathlib import Path
from typing import IO


class InstanceTaken(RuntimeError):
    """Another process of this host serves the same device instance, or measures on it."""


def lock_instance(folder: Path, name: str) -> IO[str]:
    """Hold the one lock of a device instance; keep the returned file open. Raises InstanceTaken."""
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / f"{name.replace(':', '-')}.lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise InstanceTaken(f"{name} is in use by another runner or evaluation on this host") from error
    return file
