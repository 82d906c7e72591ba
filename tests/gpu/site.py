"""The whole site once, end to end: started, signed up at, submitted to, measured, audited, ranked, stopped.

``python -m tests.gpu.site cpu`` does the same on a machine without a GPU.
"""

import json
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from leaderboard.catalog.loader import CATALOG
from runners.contract.vocabulary import DeviceKind, Verdict
from tests.at_rest import supervisors, wait_until_at_rest
from tests.gpu import jobs
from tests.gpu.site_process import Person, Site, running_site
from tests.waiting import wait_for

_TASK = "softmax"
#: By kind of device: two good submissions and a wrong one.
_FILES = {
    DeviceKind.CUDA: ("good/fused_triton.py", "good/online.cu", "wrong/first_1024.cu"),
    DeviceKind.CPU: ("good/fused_rows.cpp", "good/in_place.py", "wrong/tail_left_out.cpp"),
}
_RUN = 240.0  # seconds a run may take, behind others
_AUDITS = 300.0
_PAUSE = 0.5  # between two questions to the API, which counts them


@dataclass
class _Steps:
    """What was looked at, in order; any that fails makes the phase fail."""

    found: list[dict[str, Any]]

    @contextmanager
    def step(self, name: str) -> Iterator[dict[str, Any]]:
        start = time.monotonic()
        row: dict[str, Any] = {"step": name, "ok": False}
        self.found.append(row)
        try:
            yield row
            row["ok"] = True
        except Exception as error:
            row["error"] = repr(error)[-3000:]
            raise
        finally:
            row["seconds"] = round(time.monotonic() - start, 2)


def run(kind: DeviceKind = DeviceKind.CUDA) -> dict[str, Any]:
    """Starts the site with one runner of ``kind`` and walks through it; see ``steps`` in the outcome."""
    steps = _Steps([])
    outcome: dict[str, Any] = {"ok": False, "steps": steps.found}
    instance = jobs.device().instance if kind == DeviceKind.CUDA else "cpu"
    # Equal runs that an idle device repeats to learn its noise would make what is timed here wait.
    settings = {"KERNELHUB_TASKS": _TASK, "KERNELHUB_DEVICES": instance, "KERNELHUB_NOISE_REPEATS": "0"}
    try:
        with steps.step("whole"), running_site(**settings) as site:
            try:
                outcome |= _walk(site, steps, kind)
            except Exception:
                outcome["log"] = site.words()
                raise
            with steps.step("stop") as row:
                row["status"] = site.stop()
                assert row["status"] == 0, site.words()
        outcome["ok"] = True
    except Exception as error:  # noqa: BLE001 - told with what was found so far
        outcome["failed"] = f"{error!r}: {error}"[-2000:]
    outcome["summary"] = [_line(row) for row in steps.found]
    return outcome


def _walk(site: Site, steps: _Steps, kind: DeviceKind) -> dict[str, Any]:
    with steps.step("sign up, make a token"):
        person = Person(site)
    with steps.step("a runner is online") as row:
        device = wait_for("a runner", lambda: _online(person, kind), 120, _PAUSE)
        row |= {key: device[key] for key in ("slug", "name", "sandbox", "ceilings", "environment_digest")}
    first, second, wrong = (CATALOG / _TASK / name for name in _FILES[kind])
    slug = str(device["slug"])
    with steps.step("a source without entry point is refused at the door") as row:
        row["answer"] = _submit(person, slug, first, source="x = 1\n")
        assert row["answer"]["error"]["code"] == "entry_point_missing"
    with steps.step("submit") as row:
        entered = {path.name: _submit(person, slug, path)["id"] for path in (first, second, wrong)}
        row["frame"] = person.first_frame(f"/ws/submissions/{entered[first.name]}/")
        assert row["frame"]["status"] in ("queued", "running")
    for name, number in entered.items():
        with steps.step(f"verdict of {name}") as row:
            done = wait_for(f"{name} to finish", partial(_finished, person, number), _RUN, _PAUSE)
            told = ("verdict", "reason", "tier", "device_seconds", "score", "standing_reason")
            row |= {key: done[key] for key in told}
            row["stages"] = done["progress"]["stages"]
            wanted = Verdict.WRONG if name == wrong.name else Verdict.PASSED
            assert done["verdict"] == wanted, done["reason"]
    path = f"/api/v1/tasks/{_TASK}/board/?device={slug}"
    with steps.step("audited and ranked") as row:
        board = wait_for("the audits", lambda: _settled(person, path), _AUDITS, _PAUSE)
        mine = [item for item in board["rows"] if item["username"] == person.name]
        assert [item["rank"] for item in mine] == [1], board  # one person, the better of two entries
        honest = [person.get(f"/api/v1/submissions/{entered[path.name]}/") for path in (first, second)]
        ranked = [done for done in honest if done["score"]["standing"] == "ranked"]
        passed = min(ranked, key=lambda done: done["score"]["seconds"])
        row |= {"best": mine[0]["seconds"], "language": mine[0]["language"], "entered": passed["id"]}
        assert {item["baseline"] for item in board["rows"]} & {"eager"}, "the eager baseline is missing"
        assert (mine[0]["speedup"] or 0) > 0
        row["audit"] = passed["score"]["audit"]
        assert row["audit"] is not None, "it holds first place and was not run a second time"
    with steps.step("from handing in to the verdict, as a page sees it") as row:
        row["waits"] = [
            _waited(site, person, slug, path, known=known)
            for path in (first, second)
            for known in (False, True)
        ]
    with steps.step("pages show it"):
        assert person.name in person.page(f"/tasks/{_TASK}/board/?device={slug}")
        assert "Wrong result" in person.page(f"/submissions/{entered[wrong.name]}/")
        assert slug in person.page("/devices/")
    with steps.step("nothing honest is held or withdrawn") as row:
        row["doubts"] = [done["standing_reason"] for done in honest if done not in ranked]
        assert not row["doubts"], row["doubts"]
    return {"device": device, "board": board}


def _submit(person: Person, slug: str, path: Path, source: str | None = None) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8") if source is None else source
    return person.submit(task=_TASK, device=slug, filename=path.name, mode="ranked", source=text)


def _waited(site: Site, person: Person, slug: str, path: Path, *, known: bool) -> dict[str, Any]:
    """Seconds from handing in a test run, the device idle and the next sandbox warm, until a page has its
    first result and its verdict. A page asks whenever its socket says that there is news. A ``known`` source
    was compiled before.
    """
    text = path.read_text(encoding="utf-8")
    if not known:
        text = f"{'#' if path.suffix == '.py' else '//'} {secrets.token_hex(8)}\n{text}"
    wait_for("the device to be idle", lambda: _idle(person, slug), _RUN, _PAUSE)
    wait_until_at_rest(lambda: supervisors(site.process.pid))
    start = time.monotonic()
    number = person.submit(task=_TASK, device=slug, filename=path.name, mode="test", source=text)["id"]
    first_test = None
    for frame in person.frames(f"/ws/submissions/{number}/", _RUN):
        done = frame["status"] == "finished"
        if first_test is None or done:
            found = person.get(f"/api/v1/submissions/{number}/")
            if first_test is None and found["progress"]["tests"]:
                first_test = round(time.monotonic() - start, 3)
        if done:
            break
    assert found["verdict"] == Verdict.PASSED, found["reason"]
    verdict = round(time.monotonic() - start, 3)
    return {"submission": path.name, "known": known, "first_test": first_test, "verdict": verdict}


def _idle(person: Person, slug: str) -> bool:
    (device,) = (item for item in person.get("/api/v1/devices/") if item["slug"] == slug)
    return not (device["queued"] or device["running"])


def _online(person: Person, kind: DeviceKind) -> dict[str, Any] | None:
    for device in person.get("/api/v1/devices/"):
        if device["kind"] == kind and device["online"]:
            return dict(device)
    return None


def _finished(person: Person, submission: str) -> dict[str, Any] | None:
    found = person.get(f"/api/v1/submissions/{submission}/")
    return dict(found) if found["status"] == "finished" else None


def _settled(person: Person, path: str) -> dict[str, Any] | None:
    """The board once nothing on it is being audited and the eager reference stands on it."""
    board = person.get(path)
    standings = {row["standing"] for row in board["rows"]}
    baselines = {row["baseline"] for row in board["rows"]}
    return dict(board) if standings == {"ranked"} and "eager" in baselines else None


def _line(row: dict[str, Any]) -> str:
    told = f"{'ok' if row['ok'] else 'BAD'} {row['step']} in {row['seconds']} s"
    for wait in row.get("waits", []):
        told += f"; {wait['submission']}{', known' if wait['known'] else ''}: "
        told += f"{wait['first_test']} s to the first test, {wait['verdict']} s to the verdict"
    return told if row["ok"] else f"{told}: {row.get('error', '')[:300]}"


if __name__ == "__main__":
    found = run(DeviceKind(sys.argv[1] if len(sys.argv) > 1 else "cuda"))
    sys.stdout.write(json.dumps(found, indent=1, default=str) + "\n")
    sys.exit(not found["ok"])
