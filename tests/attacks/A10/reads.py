"""Tries to read the runner's files, home directories and other submissions."""

import errno
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
            found = os.listdir(path)
        else:
            with open(path, "rb") as file:
                found = file.read(1)
        print("READ" if found else "tried, empty:", path)
    except OSError as error:
        print("tried", path, errno.errorcode[error.errno])
print("TRIED every place")


def kernel(x):
    return 2 * x + 1
