"""First code inside the sandbox: closes the last doors, then hands over to the role asked for.

Landlock forbids mounts, so it cannot be put on before bubblewrap has built the file system; it is put on
here, before a byte of the submission is read.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from runners.harness.control import Control
from runners.sandbox import births, landlock, privileges, seccomp


def main() -> None:
    settings = json.loads(sys.argv[1])
    sys.argv = ["kernel"]
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # a signal to its own group reaches bubblewrap no more
    os.closerange(3, settings["control"])
    os.closerange(settings["control"] + 1, 4096)
    privileges.no_new_privileges()
    privileges.limit_processes(settings["threads"])
    if settings["landlock"]:
        read = [path for path in settings["read"] if os.path.exists(path)]
        landlock.restrict(read, settings["write"], loopback=settings["loopback"])
    if settings["seccomp"]:
        seccomp.install()
    for name in settings["imports"]:
        __import__(name)
    role = __import__(f"runners.harness.{settings['role']}", fromlist=["main"])
    control = Control(settings["control"])
    if settings["gated"]:  # after the imports, which may start processes while nobody listens
        listener = births.install()
        control.send({"event": "births"}, [listener])
        os.close(listener)
    role.main(control)


if __name__ == "__main__":
    main()
