"""Runs the phases named on the command line, all of them without a name. Each writes one JSON file to $OUT.

Phases before and after a ``/`` run side by side on a GPU each (lanes.py).

A phase that fails is reported and does not keep the others from running; the exit status says whether all
passed.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.gpu import (
    agreement,
    calibration,
    catalogue,
    cheats,
    faults,
    lanes,
    latency,
    machine,
    profiles,
    repeats,
    search,
    site,
)
from tests.gpu.provenance import provenance

PHASES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "machine": machine.describe,
    "layers": machine.layers,
    "smoke": catalogue.smoke,
    "catalogue": catalogue.run,
    "ranked": catalogue.ranked,
    "calibration": calibration.run,
    "agreement": agreement.run,
    "repeats": repeats.run,
    "faults": faults.run,
    "latency": latency.run,
    "load_inline": latency.run_load_inline,
    "profiles": profiles.run,
    "cheat_suite": cheats.run,
    "attacks": cheats.run_attacks,
    "site": site.run,
    "search": search.run,
}
#: Worth their time on a machine where nothing works.
_DIAGNOSES = ("machine", "layers")


def main(names: list[str]) -> int:
    beside = lanes.split(names)
    if len(beside) > 1:
        return lanes.run(beside)
    out = Path(os.environ["OUT"])
    lines: list[str] = []
    failed = dead = False
    for name in names or list(PHASES):
        if dead and name not in _DIAGNOSES:
            lines.append(f"== {name}: skipped, as nothing passed in smoke")
            continue
        start = time.monotonic()
        try:
            found = PHASES[name]()
        except Exception as error:  # noqa: BLE001 - the other phases must still run
            traceback.print_exc()
            found = {"ok": False, "summary": [f"failed: {error!r}"]}
        found = {
            "phase": name,
            **provenance(name),
            "date": time.strftime("%Y-%m-%d %H:%M:%S %Z"),
            "seconds": round(time.monotonic() - start, 1),
            **found,
            "machine": _with_facts(found.get("machine", {})),
        }
        (out / f"gpu_{name}.json").write_text(json.dumps(found, indent=1, default=str) + "\n")
        failed = failed or not found["ok"]
        dead = dead or (name == "smoke" and not found.get("any_passed"))
        lines.append(f"== {name}: {'ok' if found['ok'] else 'NOT OK'} in {found['seconds']} s")
        lines += [f"   {line}" for line in found["summary"]]
        _say(lines[-1 - len(found["summary"])])
    _say("\n".join(["", *lines]))
    return int(failed)


def _with_facts(told: Any) -> Any:
    """What a phase says of its machine counts, and leaves out neither card nor driver. One that was put
    together of several machines' names them.
    """
    return {**machine.facts(), **told} if isinstance(told, dict) else told


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
