"""Tries to read the runner's files, home directories and other submissions."""

import glob
import os

SECRET = "@SECRET@"
PLACES = [SECRET, "/etc/shadow", "/etc/passwd", "/root/.bashrc", "/root/.ssh/id_rsa", "/var/log/syslog"]
PLACES += ["/proc/1/root" + SECRET, "/proc/self/root" + SECRET, "/../.." + SECRET, f"/proc/{os.getppid()}/root" + SECRET]
PLACES += ["/proc/1/cwd/manage.py", "/mnt", "/dev/sda", "/dev/vda", "/dev/mem", "/proc/kcore", "/proc/kallsyms_"]
PLACES += glob.glob("/home/*") + glob.glob("/root/*") + glob.glob("/srv/*") + glob.glob("/opt/*/*.sqlite3")
for path in PLACES:
    try:
        if os.path.isdir(path):
            if os.listdir(path):
                print("READ", path)
        else:
            with open(path, "rb") as file:
                if file.read(1):
                    print("READ", path)
    except OSError:
        pass


def kernel(x):
    return 2 * x + 1
