"""What profile mode tells on a GPU: raw reports, launched names, and counters or why there are none."""

from typing import Any

from runners.contract.vocabulary import Mode, Verdict
from runners.supervisor import nsight
from tests.gpu import catalogue, jobs

_FILES = (("softmax", "online.cu"), ("softmax", "fused_triton.py"), ("softmax", "in_place.py"))
_WORK = {"online.cu": "own", "fused_triton.py": "own", "in_place.py": "library"}


def run() -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for slug, name in _FILES:
        task = catalogue.task_named(slug)
        fixture = next(item for item in task.good if item.path.name == name)
        document = jobs.evaluate(task.spec, fixture.language, fixture.path.read_text(), Mode.PROFILE)
        profile = {key: value for key, value in (document.get("profile") or {}).items() if key != "table"}
        rows.append(
            {
                "kernel": f"{slug}/{name}",
                "verdict": document["verdict"],
                "reason": document["reason"],
                "stages": jobs.stages(document),
                "work": document.get("work"),
                "launches": document.get("launches"),
                "profile": profile,
                "ok": document["verdict"] == Verdict.PASSED and document.get("work") == _WORK[name],
            }
        )
    return {
        "ok": all(row["ok"] for row in rows),
        "ncu": nsight.find(),
        "rows": rows,
        "summary": [line for row in rows for line in _lines(row)],
    }


def _lines(row: dict[str, Any]) -> list[str]:
    profile = row["profile"]
    names = [launch["name"][:60] for launch in row["launches"] or () if launch["on_device"]]
    lines = [f"{row['kernel']}: {row['verdict']} {row['reason'][:200]} work {row['work']}, {row['stages']}"]
    lines.append(f"  launched {names[:4]}, raw {profile.get('raw')} {profile.get('raw_bytes')} bytes")
    if profile.get("counters"):
        lines.append(f"  {profile['counters']}")
    for kernel in profile.get("kernels", []):
        lines.append(f"  { ({key: kernel[key] for key in kernel if key != 'name'}) } {kernel['name'][:60]}")
    return lines
