"""One process per device instance of a host. No Django, so that a lone evaluation can take it too."""

import errno
import fcntl
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from runners.contract.vocabulary import DeviceKind
from runners.devices import DetectedDevice
from runners.sandbox import nvidia


class InstanceTaken(RuntimeError):
    """Another process of this host serves the same device instance, or measures on it."""


def lock_instance(folder: Path, name: str) -> IO[str]:
    """Hold the one lock of that name among all who use ``folder``; keep the returned file open. Raises
    InstanceTaken.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / f"{name.replace(':', '-')}.lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise _taken(name) from error
    return file


def lock_device(folder: Path, device: DetectedDevice) -> ExitStack:
    """Hold ``device`` among all who use ``folder``, a GPU among all of this host; close the stack to let it
    go. Raises InstanceTaken.
    """
    with ExitStack() as held:
        held.enter_context(lock_instance(folder, device.instance))
        if device.kind == DeviceKind.CUDA:
            held.enter_context(_lock_gpu(device))
        return held.pop_all()


def _lock_gpu(device: DetectedDevice) -> socket.socket:
    """A name in the kernel's list of abstract sockets, by the card's place on the PCI bus: whatever data
    folder and user, it is the same, there is no file whose owner or links could matter, and it ends with the
    process. Only containers with networks of their own do not see each other's.
    """
    place = nvidia.pci_address(device.index) or str(device.index)
    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held.bind(f"\0kernelhub-gpu-{place}")
    except OSError as error:
        held.close()
        if error.errno != errno.EADDRINUSE:
            raise
        raise _taken(device.instance) from error
    return held


def _taken(name: str) -> InstanceTaken:
    return InstanceTaken(f"{name} is in use by another runner or evaluation on this host")
