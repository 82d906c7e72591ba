"""Commands that need the running site say so in one sentence while it does not run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", [["export_board", "softmax", "--device", "cpu"], ["createsuperuser"]])
def test_a_command_without_its_database_names_the_folder_and_the_way(
    tmp_path: Path, command: list[str]
) -> None:
    inherited = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *command],
        env={**inherited, "KERNELHUB_DATA": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    told = f"no database at {tmp_path} (KERNELHUB_DATA): start the site first: make run\n"
    assert done.stderr.endswith(told)
    assert "Traceback" not in done.stderr
