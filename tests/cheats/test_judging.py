"""The suite itself: what it takes for caught, and which corpora it refuses to read."""

import json
import threading
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from leaderboard.corpus import judging, suite
from leaderboard.corpus.cases import Attempt, CorpusError, Expectation, read_corpus
from leaderboard.corpus.judging import Outcome, judge
from leaderboard.corpus.suite import controls_of, gaps_elsewhere
from runners.contract.job import DeviceTarget, Job
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Language, Mode, Verdict
from runners.devices import DetectedDevice
from runners.supervisor.client import failed_document

ROOT = Path(__file__).parent
CORPUS = read_corpus(ROOT)


def document(verdict: Verdict = Verdict.PASSED, **changes: Any) -> ResultDocument:
    job = Job(
        "1", CORPUS.specs["affine"], Language.CPP, "", Mode.TEST, DeviceTarget(DeviceKind.CPU), "/nowhere"
    )
    return {**failed_document(job, verdict, "a reason", 1.0), **changes}  # type: ignore[typeddict-item]


def wanted(**changes: Any) -> Expectation:
    return Expectation("title", "why", expected=(Verdict.PASSED,), **changes)


def printed(text: str) -> ResultDocument:
    return document(output={"stdout": text, "stderr": "", "truncated": False})


TIMED = [{"case": "one", "description": "", "status": "passed", "seconds": 0.002}]
FLOORED = [{**TIMED[0], "floor_seconds": 0.0021}]
FLAGGED = [{"rule": "timer_patch", "line": 1, "message": "", "refuses": False}]
VARYING = [{"case": "one", "description": "", "hidden": False, "status": "passed", "deterministic": False}]


def lasting(seconds: float) -> ResultDocument:
    return document(benchmarks=[{**TIMED[0], "seconds": seconds}])


@pytest.mark.parametrize(
    ("expectation", "good", "bad"),
    [
        (wanted(), document(), document(Verdict.INTERNAL_ERROR)),
        (wanted(reason="a reason"), document(), document(reason="another")),
        (wanted(least_seconds=0.001), document(benchmarks=TIMED), document(benchmarks=[])),
        (
            wanted(least_seconds=0.001),
            document(benchmarks=TIMED),
            document(benchmarks=[{**TIMED[0], "seconds": 1e-6}]),
        ),
        (wanted(least_floor=0.85), document(benchmarks=FLOORED), document(benchmarks=[])),
        (
            wanted(least_floor=0.85),
            document(benchmarks=FLOORED),
            document(benchmarks=[{**FLOORED[0], "floor_seconds": 0.003}]),
        ),
        (
            wanted(least_floor=0.85),
            document(benchmarks=FLOORED),
            document(benchmarks=[{**FLOORED[0], "floor_seconds": None}]),
        ),
        (wanted(never_printed=("FOUND",)), printed("nothing"), printed("FOUND it")),
        (wanted(printed=("left",)), printed("left it"), printed("")),
        (wanted(finding="timer_patch"), document(findings=FLAGGED), document()),
        (
            wanted(nondeterministic=True),
            document(tests=VARYING),
            document(tests=[{**VARYING[0], "deterministic": True}]),
        ),
    ],
)
def test_only_what_is_expected_is_taken(
    expectation: Expectation, good: ResultDocument, bad: ResultDocument
) -> None:
    assert judge(expectation, good) == []
    assert len(judge(expectation, bad)) == 1


@pytest.mark.parametrize(
    ("seconds", "controls", "faults"),
    [
        (0.002, [lasting(0.0021)], 0),
        (0.001, [lasting(0.0021)] * 3, 1),
        (0.002, [lasting(0.0042), lasting(0.0021)], 0),  # other work slowed the first one down
        (0.002, [document(Verdict.WRONG)], 1),
        (0.002, [lasting(0.0042), document(Verdict.WRONG)], 1),
    ],
)
def test_a_cheat_is_held_against_what_its_neighbour_takes(
    monkeypatch: pytest.MonkeyPatch, seconds: float, controls: list[ResultDocument], faults: int
) -> None:
    documents = iter([lasting(seconds), *controls])
    monkeypatch.setattr(judging, "run_job", lambda *_, **__: next(documents))
    expectation = wanted(task="affine", control="affine.cpp", least_of_control=0.9)
    attempt = Attempt("C01", ROOT / "honest" / "affine.cpp", Language.CPP, expectation)
    device = DetectedDevice("cpu", DeviceKind.CPU, "a CPU", 0, (0,), {})
    outcome = judging.run_attempt(CORPUS, attempt, device, ROOT)
    assert len(outcome.faults) == faults
    assert outcome.controls[-1] == controls[-1]
    assert not list(documents)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = 'a'", "why is missing"),
        ("title = 'a'\nwhy = 'b'\nkind = 'other'", "kind 'other'"),
        ("title = 'a'\nwhy = 'b'\nkind = 'task'", "covered_by"),
        ("title = 'a'\nwhy = 'b'\nsurprise = 1", "unknown key 'surprise'"),
        (
            "title = 'a'\nwhy = 'b'\ntask = 'affine'\nexpected = ['wrong']\ncontrol = 'no.cpp'",
            "honest/no.cpp",
        ),
        ("title = 'a'\nwhy = 'b'\ntask = 'no'\nexpected = ['wrong']\ncontrol = 'affine.cpp'", "no task 'no'"),
        ("title = 'a'\nwhy = 'b'\ntask = 'affine'\nexpected = ['fine']", "fine"),
        (
            "title = 'a'\nwhy = 'b'\ntask = 'affine'\nexpected = ['passed']\ncontrol = 'affine.cpp'",
            "gained nothing",
        ),
        ("title = ", "expect.toml"),
    ],
)
def test_faults_of_a_corpus_are_named(tmp_path: Path, text: str, words: str) -> None:
    folder = tmp_path / "C01"
    folder.mkdir()
    (folder / "expect.toml").write_text(text)
    (folder / "kernel.cpp").write_text("// kernel")
    with pytest.raises(CorpusError, match=words):
        read_corpus(tmp_path, tasks=ROOT)


@pytest.mark.parametrize(("kind", "meet"), [(DeviceKind.CPU, True), (DeviceKind.CUDA, False)])
def test_two_run_at_once_where_nothing_is_timed_but_on_a_gpu_one(
    kind: DeviceKind, meet: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    both, met = threading.Barrier(2, timeout=10 if meet else 0.2), []

    def run(corpus: object, attempt: Attempt, *_: object, **__: object) -> Outcome:
        try:
            both.wait()
            met.append(attempt.name)
        except threading.BrokenBarrierError:
            both.reset()
        return Outcome(attempt, (), ())

    monkeypatch.setattr(suite, "run_attempt", run)
    monkeypatch.setattr(suite, "WarmPool", lambda *_, **__: MagicMock())
    untimed = [item for item in CORPUS.attempts if item.expectation.mode == Mode.TEST][:2]
    device = DetectedDevice("test", kind, "Test", 0, ())
    assert len(suite.run_all(CORPUS, untimed, device, tmp_path)) == 2
    assert len(met) == (2 if meet else 0)


def test_an_honest_neighbour_can_follow_every_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[str] = []

    def run(corpus: object, attempt: Attempt, *_: object, **__: object) -> Outcome:
        ran.append("honest" if attempt.case == "honest" else attempt.name)
        faults = ("it did not pass",) if len(ran) == 4 else ()
        return Outcome(attempt, (document(),), faults)

    monkeypatch.setattr(suite, "run_attempt", run)
    monkeypatch.setattr(suite, "WarmPool", lambda *_, **__: MagicMock())
    device = DetectedDevice("test", DeviceKind.CPU, "Test", 0, ())
    report = suite.run_suite(CORPUS, device, tmp_path, only={"C02", "C10"}.__contains__, after_each=True)
    names = [item.name for item in CORPUS.attempts_on(DeviceKind.CPU) if item.case in ("C02", "C10")]
    assert ran == [name for attempt in names for name in (attempt, "honest")]
    assert (report.honest_controls, report.honest_controls_passed) == (len(names), len(names) - 1)
    assert not report.as_expected


def test_the_report_names_its_command_and_what_each_cheat_was_held_against(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Settings
) -> None:
    control = lasting(0.0021)

    def run(corpus: object, attempt: Attempt, *_: object, **__: object) -> Outcome:
        held = (control,) if attempt.name == "C09/hides_early.cpp" else ()
        return Outcome(attempt, (document(benchmarks=TIMED),), (), held)

    monkeypatch.setattr(suite, "run_attempt", run)
    monkeypatch.setattr(suite, "WarmPool", lambda *_, **__: MagicMock())
    settings.DATA_DIR = tmp_path
    out = StringIO()
    call_command("cheat_suite", "C09", "--device", "cpu", "--json", stdout=out, stderr=StringIO())
    report = json.loads(out.getvalue())
    assert report["command"] == "manage.py cheat_suite C09 --device cpu --json"
    assert 0 <= report["seconds"] < 60
    found = {item["attempt"]: item for item in report["attempts"]}
    held = found.pop("C09/hides_early.cpp")
    assert (held["control_timings"], held["control_runs"]) == ([{"case": "one", "seconds": 0.0021}], 1)
    assert all((item["control_timings"], item["control_runs"]) == ([], 0) for item in found.values())
    out = StringIO()
    folder = str(ROOT.parent / "attacks")
    call_command(
        "cheat_suite", "A24", "--corpus", folder, "--after-each", "--json", stdout=out, stderr=StringIO()
    )
    wanted = "manage.py cheat_suite A24 --device cpu --corpus tests/attacks --after-each --json"
    assert json.loads(out.getvalue())["command"] == wanted


def test_command_names_an_unknown_case() -> None:
    with pytest.raises(CommandError, match="C99") as caught:
        call_command("cheat_suite", "C99")
    assert caught.value.returncode == 2


def test_a_gap_of_what_is_no_submission_is_listed_too() -> None:
    assert "several users" in gaps_elsewhere(CORPUS)["C53"]
    assert gaps_elsewhere(CORPUS, {"C01"}.__contains__) == {}


def test_an_honest_neighbour_is_judged_by_the_rates_of_its_cheat() -> None:
    (cheat,) = [attempt for attempt in CORPUS.attempts if attempt.name == "C11/too_fast.cpp"]

    (control,) = controls_of(CORPUS, [cheat])

    assert control.expectation.ceilings == cheat.expectation.ceilings != {}
    others = [attempt for attempt in CORPUS.attempts if attempt.case == "C11"]
    assert len(controls_of(CORPUS, others)) == 2
