"""Making paths that only root may read visible to an unprivileged bubblewrap.

A Python installed under /root cannot be bind-mounted by uid 65534. While still root, the launcher enters a
mount namespace of its own and binds each source under a directory that everyone may traverse.
"""

import os
from collections.abc import Sequence

from runners.sandbox import libc

#: Existing on every Linux; covered by a tmpfs inside the launcher's own mount namespace only.
_STAGE = "/mnt"


def stage(sources: Sequence[str]) -> list[str]:
    """The staged path of each source. Call as root, in a process that will exec soon; raises OSError."""
    libc.unshare(libc.CLONE_NEWNS)
    libc.mount("none", "/", flags=libc.MS_REC | libc.MS_PRIVATE)
    # Sources may lie below the stage itself: bind first, from descriptors taken before it is covered.
    descriptors = [os.open(source, os.O_PATH | os.O_CLOEXEC) for source in sources]
    libc.mount("stage", _STAGE, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "size=1m,mode=755")
    staged = []
    for index, (source, descriptor) in enumerate(zip(sources, descriptors, strict=True)):
        target = f"{_STAGE}/{index}"
        if os.path.isdir(source):
            os.mkdir(target, 0o755)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        libc.mount(f"/proc/self/fd/{descriptor}", target, flags=libc.MS_BIND | libc.MS_REC)
        os.close(descriptor)
        staged.append(target)
    return staged
