"""The site's own commands as processes on the test database, and what processes are called."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from django.db import connection

ROOT = Path(__file__).resolve().parents[1]


def database_url() -> str:
    """The test database's URL: the environment's names the one that it was made from."""
    settings = connection.settings_dict
    host = settings["OPTIONS"].get("host", settings["HOST"])
    return f"postgresql://{settings['USER']}@/{settings['NAME']}?host={host}"


@contextmanager
def commands(data: Path) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """Starts ``manage.py`` with words, ``stderr`` and more of the environment; what is left is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str, stderr: Any = None, **environment: str) -> "subprocess.Popen[bytes]":
        mine = {"DATABASE_URL": database_url(), "KERNELHUB_DATA": str(data)}
        process = subprocess.Popen(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env={**os.environ, **mine, **environment},
            stderr=stderr,
            start_new_session=True,
        )
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
            process.wait()


def command_line(process: psutil.Process) -> str:
    """Empty where it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
