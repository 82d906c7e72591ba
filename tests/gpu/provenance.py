"""Where a result comes from: the command that made it, and the state of the repository if that is known."""

import os
import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def provenance(phase: str) -> dict[str, str | None]:
    """``command`` and ``commit``; the commit is None on a machine that got the files without their history,
    unless $COMMIT names it.
    """
    return {"command": f"bash tests/gpu/run_all.sh {phase}", "commit": os.environ.get("COMMIT") or _commit()}


def _commit() -> str | None:
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{commit}, with changes" if commit and changed else commit


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(_ROOT), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
