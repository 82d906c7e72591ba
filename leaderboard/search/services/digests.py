"""What a run is tied to: it goes on only on the task, template and device on which it was started."""

import hashlib
import json

from leaderboard.search.generators.template import Template
from leaderboard.search.llm.pens import Pen
from leaderboard.search.models import SearchRun
from runners.models import Device


def device_digest(device: Device) -> str:
    """Changes with the facts that its runners tell of the machine: compiler, driver, cores."""
    text = json.dumps([device.slug, device.kind, device.name, device.facts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def what_changed(run: SearchRun, template: Template | Pen | None) -> str:
    """Why the run must not go on, in a sentence; empty where everything is as it was."""
    if not run.version.is_current or run.version.spec_id != run.spec_digest:
        return "The task has a new version; times of two versions can't be compared."
    if template is None or template.digest != run.template_digest:
        return "The task's template is not the one that the run was started with."
    if device_digest(run.device) != run.device_digest:
        return f"{run.device.name} is not what it was: its machine, compiler or driver has changed."
    return ""
