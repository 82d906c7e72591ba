"""The evaluation commands, from files to reports, on small made-up data."""

import json
import math
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.datasets.export import outcome_document
from surrogate.datasets.record import record
from surrogate.evaluation.guarantee import realised_risk
from surrogate.evaluation.report import report
from surrogate.evaluation.run import Run, Scored, evaluate
from surrogate.evaluation.search_replay import STRATEGIES, Replay
from surrogate.evaluation.splits import folds
from surrogate.forecasters.random import RandomForecaster
from surrogate.llm.config import NO_KEY
from tests.surrogate.factories import outcomes
from tests.surrogate.test_datasets import setting, write


def export(path: Path, **more: Any) -> Path:
    return write(path, [outcome_document(item) for item in outcomes(**more)])


def run_command(name: str, *arguments: object) -> str:
    out = StringIO()
    call_command(name, *map(str, arguments), stdout=out)
    return out.getvalue()


def test_the_report_holds_every_metric_with_an_interval(tmp_path: Path) -> None:
    path = export(tmp_path / "data.jsonl", count=60, devices=("one", "two"))
    text = run_command(
        "evaluate_surrogate", "--data", path, "--forecaster", "prior", "--forecaster", "neighbours", "--json"
    )
    document = json.loads(text)
    assert document["tasks"] == 12
    for name in ("prior", "neighbours"):
        result = document["forecasters"][name]
        assert result["counts"]["examined"] == 120
        assert result["answered_share"] == 1.0
        for metric in (
            "pairwise_accuracy", "exact_bin", "within_one_bin", "mae_log2", "crps", "brier_half", "nll",
            "ece", "aurc", "e_aurc", "augrc", "risk_at_20",
        ):  # fmt: skip
            value, low, high = result["metrics"][metric]
            assert low <= value + 1e-9
            assert value <= high + 1e-9
        assert "kendall" in result["within_task"]
        assert result["recalibrated"]["nll"] > 0
    gap = document["differences"]["neighbours"]["prior"]["crps"]
    assert gap[1] <= gap[0] <= gap[2] < 0  # lower is better, beyond doubt
    good, plain = (document["forecasters"][name]["metrics"] for name in ("neighbours", "prior"))
    assert good["pairwise_accuracy"][0] > plain["pairwise_accuracy"][0]


def test_leaving_a_device_out_uses_what_other_devices_know(tmp_path: Path) -> None:
    path = export(tmp_path / "data.jsonl", count=40, devices=("one", "two"), noise=0.02)
    arguments = ("--data", path, "--forecaster", "neighbours", "--json")
    by_device = json.loads(run_command("evaluate_surrogate", *arguments, "--split", "device"))
    by_task = json.loads(run_command("evaluate_surrogate", *arguments, "--split", "task"))
    near, far = (item["forecasters"]["neighbours"]["metrics"]["crps"][0] for item in (by_device, by_task))
    assert near < far


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--forecaster", "oracle"), "no forecaster is called 'oracle'"),
        (("--forecaster", "prior", "--split", "device"), "a single device.*try --split task"),
    ],
)
def test_what_cannot_be_evaluated_is_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    path = export(tmp_path / "data.jsonl", count=20)
    with pytest.raises(CommandError, match=said):
        run_command("evaluate_surrogate", "--data", path, *arguments)


def test_who_cannot_be_asked_says_why_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    path = export(tmp_path / "data.jsonl", count=20)
    said = run_command("evaluate_surrogate", "--data", path, "--forecaster", "anthropic")
    assert said == f"anthropic: no forecast. {NO_KEY}.\n"


def test_numbers_of_few_tasks_come_with_a_remark(tmp_path: Path) -> None:
    for count, tasks, said in (
        (20, 2, "20 kernels of too few tasks to resample tasks: .*say little"),
        (150, 2, "150 kernels of too few tasks to resample tasks: .*nothing of others.$"),
        (60, 12, None),
    ):
        path = export(tmp_path / f"{count}.jsonl", count=count, tasks=tasks)
        arguments = ("evaluate_surrogate", "--data", path, "--forecaster", "prior")
        lines = run_command(*arguments).splitlines()
        result = json.loads(run_command(*arguments, "--json"))["forecasters"]["prior"]
        assert len(lines) == (1 if said is None else 2)
        assert ("remark" in result) == (said is not None)
        if said is not None:
            assert re.search(said, lines[1])
            assert lines[1] == f"prior: {result['remark']}"


def test_a_limit_examines_a_repeatable_sample() -> None:
    parts = folds([record(item) for item in outcomes(60)], "task")
    first, second = (evaluate(RandomForecaster, parts, limit=10) for _ in range(2))
    assert [row.record.pair for row in first.rows] == [row.record.pair for row in second.rows]
    assert first.counts["examined"] == 10


def test_abstentions_are_counted_and_scored_as_uniform() -> None:
    rows = []
    for index, item in enumerate(outcomes(60)):
        answer: Forecast | Abstention = Forecast.of(
            bins.one_hot(bins.label_log2(item.log2_ratio or 0.0)), forecaster="model", version="1"
        )
        if index % 3 == 0:
            answer = Abstention(AbstentionReason.MALFORMED, "broken", "model", "1")
        rows.append(Scored(record(item), answer, f"fold {index % 5}"))
    result = report(Run(rows))
    assert result["answered_share"] == pytest.approx(2 / 3)
    assert result["metrics"]["exact_bin"][0] == 1.0
    assert result["abstentions_as_uniform"]["nll"] == pytest.approx(math.log(bins.COUNT) / 3)


def test_the_promised_risk_is_compared_with_what_happened() -> None:
    rows = []
    for item in outcomes(400, tasks=80, noise=0.3):
        location = round((item.log2_ratio or 0.0) * 2) / 2
        answer = Forecast.of(bins.normal(location, 0.4), forecaster="model", version="1")
        rows.append(Scored(record(item), answer, "fold"))
    found = realised_risk(rows, risk=0.2, delta=0.1, resplits=40)
    assert found["with_a_threshold"] > 20
    assert found["mean_realised_risk"] < 0.2 < found["base_risk"]
    assert found["violations"] <= 0.1


def test_searching_a_space_with_history_beats_chance(tmp_path: Path) -> None:
    paths = []
    for number, device in enumerate(("A100", "A4000", "A6000")):
        rows = [
            setting(device, block, 1 + abs(block - 70 - 3 * number) / 10 + (block % 7) / 50)
            for block in range(1, 161)
        ]
        rows[5] = setting(device, 6, "RuntimeFailedConfig")
        paths.append(write(tmp_path / f"space_{device}.jsonl", rows))
    document = json.loads(run_command("replay_tuning_space", "--data", *paths, "--seeds", 3, "--json"))
    assert all(result["failing"] == 1 for result in document["devices"].values())
    found = {
        name: np.mean([result["strategies"][name]["5%"][1] for result in document["devices"].values()])
        for name in STRATEGIES
    }
    assert found["mean of other devices"] < found["random"]
    assert found["learned with history"] < found["random"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_measures_a_setting_twice_or_more_than_there_are(strategy: str) -> None:
    settings = tuple((("block", float(index)),) for index in range(20))
    seconds = np.array([math.inf if index % 4 == 0 else float(index) for index in range(20)])
    replay = Replay(settings, seconds, np.full((20, 1), np.nan))
    order = STRATEGIES[strategy](replay, np.random.default_rng(0), 20)
    assert sorted(order) == list(range(20))


def test_the_command_needs_no_database(tmp_path: Path) -> None:
    """pytest-django forbids database access in tests that do not ask for it, so running is the proof."""
    path = export(tmp_path / "data.jsonl", count=20)
    assert "pairwise_accuracy" in run_command("evaluate_surrogate", "--data", path, "--forecaster", "prior")
