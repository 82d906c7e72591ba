"""Changes its process while it is loaded, and has more in store for its end."""

import atexit
import os
import resource
import signal
import sys

os.umask(0)
os.chdir("/")
os.environ.clear()
os.nice(5)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
sys.setrecursionlimit(10_000)
signal.signal(signal.SIGTERM, lambda *args: print("AT EXIT"))


@atexit.register
def leave():
    print("AT EXIT", flush=True)
    open("/tmp/kernelhub-@TOKEN@", "w").close()
    open("/dev/shm/kernelhub-@TOKEN@", "w").close()


class Leaves:
    def __del__(self):
        leave()


last = Leaves()


def kernel(x):
    return 2 * x + 1
