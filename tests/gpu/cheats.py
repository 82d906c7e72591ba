"""Every known cheat and attack that a GPU can run, by ``manage.py cheat_suite`` as an operator runs it. With
$CASES, "C09 C10", only the cheats of these.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.gpu import jobs

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 400  # four minutes are usual


def run() -> dict[str, Any]:
    return _suite("cheats", *os.environ.get("CASES", "").split())


def run_attacks() -> dict[str, Any]:
    return _suite("attacks", "--after-each")


def _suite(corpus: str, *options: str) -> dict[str, Any]:
    where = [*options, "--device", jobs.device().instance, "--corpus", f"tests/{corpus}", "--json"]
    done = subprocess.run(
        [sys.executable, "manage.py", "cheat_suite", *where],
        cwd=_ROOT,
        env={**os.environ, "KERNELHUB_DATA": jobs.data_dir()},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    lines = done.stderr.strip().splitlines()
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"ok": False, "status": done.returncode, "summary": [f"no report: {lines[-5:]}"]}
    for told_by_the_phase in ("command", "seconds"):
        del report[told_by_the_phase]
    summary = [
        f"{report['caught']} of {report['total']} {corpus} caught, {report['honest_controls_passed']} of "
        f"{report['honest_controls']} honest controls passed",
        *lines,
    ]
    passed = done.returncode == 0 and report["caught"] == report["total"]
    return {"ok": passed, **report, "summary": summary}
