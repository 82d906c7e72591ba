"""Tries to become root by binaries, by namespaces and by asking."""

import ctypes
import errno
import os
import subprocess

libc = ctypes.CDLL(None, use_errno=True)


def say(name, result):
    if result >= 0:
        print("ROOT by", name)
    else:
        print("tried", name, errno.errorcode[ctypes.get_errno()])


for change in (os.setuid, os.seteuid, os.setgid):
    try:
        change(0)
        print("ROOT by", change.__name__)
    except OSError as error:
        print("tried", change.__name__, errno.errorcode[error.errno])
for command in (
    ["su", "-c", "id -u"],
    ["sudo", "-n", "id", "-u"],
    ["mount", "-t", "tmpfs", "none", "/tmp"],
    ["unshare", "-Ur", "id", "-u"],
    ["bwrap", "--unshare-user", "--uid", "0", "--ro-bind", "/usr", "/usr", "id", "-u"],
    ["passwd", "-S", "root"],
):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        print("tried", command[0], error)
        continue
    if done.returncode == 0:
        print("ROOT by", command, done.stdout)
    else:
        print("ran", command[0], done.returncode, done.stderr.strip())
for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000):
    say(f"unshare {flag:#x}", libc.unshare(flag))
    child = libc.syscall(56, flag | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    say(f"clone {flag:#x}", child)
say("dropping from the bounding set", libc.prctl(24, 0))
say("ambient capability", libc.syscall(157, 47, 2, 21, 0, 0))


def kernel(x):
    return 2 * x + 1
