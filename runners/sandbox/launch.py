"""The launcher: a fresh single-threaded process that drops everything, then becomes bubblewrap or the
harness.

Started as ``python -I -S launch.py <descriptor>``; the descriptor holds the plan (see spawn.py) as JSON.
It exists because the supervisor has torch's threads by then, and code between fork and exec of a threaded
process is unsafe.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from runners.sandbox import bubblewrap, privileges, staging


def main() -> None:
    descriptor = int(sys.argv[1])
    with os.fdopen(descriptor, "rb") as stream:
        plan = json.load(stream)
    os.setsid()
    os.umask(0o077)
    binds = [(source, place) for source, place in plan["binds"]]
    inner = plan["command"]
    if plan["bwrap"] and os.geteuid() == 0:
        staged = staging.stage([source for source, _ in binds])
        binds = [(path, place) for path, (_, place) in zip(staged, binds, strict=True)]
    if plan["cores"]:
        os.sched_setaffinity(0, plan["cores"])
    if plan["before_others"]:
        privileges.raise_priority()
    os.chdir("/" if plan["bwrap"] else plan["directory"])
    privileges.drop_root()
    privileges.no_new_privileges()
    privileges.die_with_parent(plan["parent"])  # after setuid, which clears it
    privileges.limit(plan["bounds"])
    if plan["bwrap"]:
        inner = bubblewrap.command(plan["bwrap"], binds, plan["devices"], plan["bounds"], inner)
    os.execve(inner[0], inner, plan["environment"])  # noqa: S606 - there is no shell on purpose


if __name__ == "__main__":
    main()
