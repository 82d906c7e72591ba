"""Which cores the supervisor runs on: never the child's while the child runs, all of them while it is
stopped.
"""

import os
from collections.abc import Sequence

import torch

_MOST_THREADS = 8


class Cores:
    """``theirs`` are the child's. Only the calling thread is moved; torch's threads sleep when there is no
    work.
    """

    def __init__(self, theirs: Sequence[int]) -> None:
        self._all = os.sched_getaffinity(0)
        # On a machine whose only cores are the child's, they are shared.
        self._ours = (self._all - set(theirs)) or self._all
        # Half of them: a team of threads that waits for one without a core loses more than it gains.
        torch.set_num_threads(max(1, min(_MOST_THREADS, len(self._all) // 2)))

    def take_all(self) -> None:
        os.sched_setaffinity(0, self._all)

    def leave(self) -> None:
        os.sched_setaffinity(0, self._ours)
