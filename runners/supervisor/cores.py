"""Where the supervisor runs, and before whom: apart from the child while the child runs, modestly while it
is stopped.

While the clock runs the supervisor sleeps on a core of its own and must wake at once. While it fills
inputs or runs the reference it takes any core, at the priority it was started with, so that the site
beside it stays quick.
"""

import os
from collections.abc import Sequence

import torch

from runners.sandbox import privileges

_MOST_THREADS = 8


class Cores:
    """``theirs`` are the child's. Only the calling thread is moved; torch's threads sleep when there is no
    work.
    """

    def __init__(self, theirs: Sequence[int]) -> None:
        self._all = os.sched_getaffinity(0)
        # On a machine whose only cores are the child's, they are shared.
        self._ours = (self._all - set(theirs)) or self._all
        self._usual = os.getpriority(os.PRIO_PROCESS, 0), privileges.session_priority()
        # Half of them: a team of threads that waits for one without a core loses more than it gains.
        torch.set_num_threads(max(1, min(_MOST_THREADS, len(self._all) // 2)))

    def take_all(self) -> None:
        """The child is stopped."""
        os.sched_setaffinity(0, self._all)
        privileges.set_priority(*self._usual)

    def leave(self) -> None:
        """The child is about to run."""
        os.sched_setaffinity(0, self._ours)
        if os.geteuid() == 0:  # others could go up but not come down again
            privileges.raise_priority()
