"""Lists what is open when it is loaded."""

import os

for name in sorted(os.listdir("/proc/self/fd"), key=int):
    try:
        target = os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        continue
    print(name, target)
    if int(name) <= 2:
        continue
    if target.startswith("socket:") or "/proc/" in target or target.startswith("anon_inode"):
        continue
    if target.startswith(("/usr/", "/dev/null", "/dev/urandom")) or "site-packages" in target:
        continue
    print("INHERITED", name, target)


def kernel(x):
    return 2 * x + 1
