"""A run's own export: every candidate and outcome in a file, and the file searched again."""

import gzip
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from leaderboard.search.generators.base import Operator, Proposal, digest_of
from leaderboard.search.models import SearchRun
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.recordings import Recorded, Recording, load_recording, recording_lines
from leaderboard.search.replay import Arena
from leaderboard.search.services.stepping import Stepper
from runners.contract.vocabulary import Verdict
from runners.models import Device, Runner
from surrogate.contract.request import KernelText
from surrogate.datasets.record import DatasetError
from tests.search.conftest import claimed, finish, measure_all

Start = Callable[..., SearchRun]


def made_up(count: int = 40) -> Recording:
    """Kernels that are text: each is built on the one before, and every fifth fails."""
    found: list[Recorded] = []
    for number in range(count):
        kernel = KernelText("cpp", f"void kernel() {{ step{number}(); }}")
        parents = (found[-1].proposal.digest,) if found else ()
        proposal = Proposal(digest_of(kernel), kernel, Operator.REWRITE, parents, ("plain",))
        failed = number % 5 == 4
        found.append(Recorded(proposal, True, None if failed else 1e-3 / (1 + number), "passed"))
    return Recording({"device": "somewhere"}, tuple(found))


def test_a_runs_export_comes_back_whole_and_is_searched_again(
    start: Start, owner: User, outsider: User, runner: Runner, device: Device, tmp_path: Path
) -> None:
    run = start(measurements=12)
    stepper, failing = Stepper(run), True
    while stepper.step():
        for evaluation in claimed(runner, device):
            fails = failing and bool(run.candidates.filter(evaluation=evaluation).exclude(parameters={}))
            finish(evaluation, verdict=Verdict.WRONG if fails else Verdict.PASSED)
            failing = failing and not fails
    run.refresh_from_db()
    path = tmp_path / "pool.jsonl.gz"
    api = APIClient()
    api.force_login(owner)
    answer = api.get(f"/api/v1/searches/{run.pk}/pool/")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/gzip")
    path.write_bytes(answer.content)

    recording = load_recording(path)
    rows = {row.digest: row for row in run.candidates.select_related("kernel")}
    assert len(recording.candidates) == run.considered
    for item in recording.candidates:
        row = rows[item.proposal.digest]
        assert item.proposal.kernel.source == row.kernel.source
        assert item.proposal.kernel.parameters == row.parameters
        assert (item.proposal.operator, list(item.proposal.parents)) == (row.operator, row.parents)
        assert (item.measured, item.seconds) == (row.status in ("measured", "failed"), row.seconds)
    assert len(recording.known) == run.measurements_spent == 12
    assert len(recording.times) == 11
    assert recording.opening is not None

    # Whatever the policy, a search of all that is known ends with the run's own best.
    for policy in Policy:
        found = Arena(recording).run(Plan(policy=policy, slots=3), 12)
        assert len(found.seconds) == 12
        assert found.seconds[0] == run.starter_seconds
        assert min(item for item in found.seconds if item) == run.best_seconds
    output = StringIO()
    call_command("search_replay", pool=[path], measurements=6, seeds=2, json=True, stdout=output)
    (name,) = json.loads(output.getvalue())["pools"]
    assert str(run.pk) in name

    api.force_login(outsider)
    assert api.get(f"/api/v1/searches/{run.pk}/pool/").status_code == 404


def test_the_command_writes_what_the_api_does(
    start: Start, owner: User, runner: Runner, device: Device, tmp_path: Path
) -> None:
    run = start(measurements=4)
    stepper = Stepper(run)
    while stepper.step():
        measure_all(runner, device)
    api = APIClient()
    api.force_login(owner)
    told = gzip.decompress(api.get(f"/api/v1/searches/{run.pk}/pool/").content).decode()
    output = StringIO()
    call_command("search_export", str(run.pk), stdout=output)
    assert output.getvalue() == told
    packed = tmp_path / "pool.gz"
    said = StringIO()
    call_command("search_export", str(run.pk), output=packed, stderr=said)
    assert said.getvalue().strip() == f"wrote {run.candidates.count()} candidates of run {run.pk} to {packed}"
    assert gzip.decompress(packed.read_bytes()).decode() == told
    for wrong in ("x", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(CommandError, match="no search run"):
            call_command("search_export", wrong)


@pytest.mark.parametrize("policy", list(Policy))
def test_kernels_that_are_text_are_searched_too(policy: Policy) -> None:
    recording = made_up()
    assert recording.grid is None
    plan = Plan(policy=policy, seed=2, slots=3, multiple=2)
    found = Arena(recording).run(plan, 30)
    assert len(found.seconds) == 30
    assert found.seconds == Arena(recording).run(plan, 30).seconds
    whole = Arena(recording).run(plan, 100)
    assert len(whole.seconds) == 40, "it ends when the recording has no more"


def test_a_search_of_few_kernels_or_seeds_comes_with_a_remark(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text("".join(recording_lines({"device": "x", "run": "1"}, made_up().candidates)))
    few = "measures 9 of the 40 kernels that were ever measured"
    for measurements, seeds, said in ((9, 10, [few]), (8, 1, ["Means of 1 seed:"]), (8, 10, [])):
        told, document = StringIO(), StringIO()
        asked = {"pool": [path], "measurements": measurements, "seeds": seeds, "stderr": StringIO()}
        call_command("search_replay", **asked, stdout=told)
        call_command("search_replay", **asked, json=True, stdout=document)
        remarks = json.loads(document.getvalue()).get("remarks", [])
        assert told.getvalue().splitlines()[1:] == remarks
        assert len(remarks) == len(said)
        assert all(words in remark for words, remark in zip(said, remarks, strict=True))


def spoilt(line: int, **changes: Any) -> str:
    lines = list(recording_lines({"device": "x"}, made_up(3).candidates))
    document = {**json.loads(lines[line]), **changes}
    lines[line] = json.dumps({name: value for name, value in document.items() if value != "gone"}) + "\n"
    return "".join(lines)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (spoilt(0, format="another"), "line 1: its format"),
        (spoilt(2, source="void kernel() {}"), "line 3: the digest is not that of the kernel"),
        (spoilt(1, operator="guess"), "line 2"),
        (spoilt(1, parents="abc"), "line 2"),
        (spoilt(1, parameters={"tile": None}), "line 2: .*parameters"),
        (spoilt(1, source="gone"), "line 2: .*source"),
        ("".join([*recording_lines({}, [made_up(1).candidates[0]] * 2)]), "stands in it twice"),
        ("".join(recording_lines({}, ())), "no kernel in it worked"),
        ("[1]\n", "line 1: not a JSON object"),
    ],
)
def test_what_is_no_recording_is_refused_with_its_line(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text(text)
    with pytest.raises(DatasetError, match=why):
        load_recording(path)
