"""Looks for any other folder it may write to, and fills that."""

import os

import errno

SKIPPED = ("/tmp", "/dev/shm", "/proc", "/usr")
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if not os.path.join(folder, name).startswith(SKIPPED)]
    try:
        descriptor = os.open(f"{folder}/big", os.O_CREAT | os.O_WRONLY)
    except OSError:
        continue
    print("WRITABLE", folder)
    os.close(descriptor)


def kernel(x):
    raise OSError(errno.ENOSPC, "nowhere to write")
