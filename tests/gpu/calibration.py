"""``manage.py calibrate_device`` as an operator runs it, on a database of its own: ceilings, and an A/A test.

``python -m tests.gpu.calibration cpu`` does the same on a machine without a GPU.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from kernelhub.embedded.postgres import EmbeddedPostgres
from tests.gpu import jobs
from tests.gpu.site_process import ROOT, inherited

_RUNS = 5  # ``repeats`` has enough for a statistic: this shows that the command learns and keeps it
_SECONDS = 600  # for one command; on a GPU two minutes, on a CPU five
_GOAL = 0.005  # how much equal runs may differ on a GPU
_TOLD = ("name", "ceilings", "calibrated_at", "calibration", "noise", "noise_measured_at")


def run(device: str = "") -> dict[str, Any]:
    """``device`` is a slug, cpu or cuda:<index>; without one, the GPU that the other phases use."""
    name = device or f"cuda:{jobs.device().index}"
    folder = Path(tempfile.mkdtemp(prefix="kernelhub-calibration-"))
    postgres = EmbeddedPostgres(folder / "postgres")
    try:
        settings = {"DATABASE_URL": postgres.start(), "KERNELHUB_DATA": str(folder / "data")}
        _manage(settings, "migrate", "--verbosity", "0")
        said = _manage(settings, "calibrate_device", name, "--runs", str(_RUNS))
        (row,) = json.loads(_manage(settings, "dumpdata", "runners.device"))
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)
    stored = {field: row["fields"][field] for field in _TOLD}
    learned = stored["calibration"].get("noise", {})
    kept = stored["noise"] and stored["ceilings"] and stored["calibration"].get("environment_digest")
    return {
        "ok": bool(kept and learned) and (name == "cpu" or learned["deviation"] <= _GOAL),
        "runs": _RUNS,
        "stored": stored,
        "summary": [*said.splitlines(), f"on a GPU the goal is {_GOAL:.1%}"],
    }


def _manage(settings: dict[str, str], *words: str) -> str:
    """What a command of the site said, its complaints first. Raises RuntimeError with them where it fails or
    takes too long; what it started ends with it.
    """
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**inherited(), **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, complaints = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        _, complaints = process.communicate()
        raise RuntimeError(f"{words[0]} took longer than {_SECONDS} s: {complaints[-2000:]}") from None
    if process.returncode != 0:
        raise RuntimeError(f"{words[0]} ended with {process.returncode}: {complaints[-2000:]}")
    return said if words[0] == "dumpdata" else complaints + said


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(*sys.argv[1:2]), indent=1) + "\n")
