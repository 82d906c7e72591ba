"""What the web process must not load: a second and a hundred megabytes each, in every process."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "transformers", "sklearn", "anthropic")
LOOK = f"""
import json, sys, django
django.setup()
import kernelhub.asgi, kernelhub.urls
print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
"""


def test_the_site_answers_without_the_libraries_of_its_workers() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOK], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == []
