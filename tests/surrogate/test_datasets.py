"""Reading files of measured kernels, in small made-up copies of each format."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from surrogate.datasets.export import outcome_document
from surrogate.datasets.load import load, load_space
from surrogate.datasets.record import DatasetError
from surrogate.evaluation.splits import folds
from tests.surrogate.factories import outcomes


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def module(name: str, body: str) -> str:
    head = f"import torch\n\nclass {name}(torch.nn.Module):\n    # at least 9x\n"
    return f"{head}    def forward(self, x):\n        return {body}\n"


def optimised(task: int, device: str, ratio: Any, graph: Any) -> dict[str, Any]:
    return {
        "level_id": 1,
        "task_id": task,
        "ref_code": module("Model", f"x.ref_{task}().sum().tail_{task}(x.a_{task}, x.b_{task})"),
        "custom_code": module("ModelNew", f"x.fast_{task}().sum().twice_{task}(x.c_{task})"),
        "cuda_graph_code": module("Model", f"x.graph_{task}().sum().thrice_{task}()"),
        "score_default": ratio,
        "score_cuda_graph": graph,
        "device": device,
    }


def solution(author: str, correct: bool, milliseconds: float | None) -> dict[str, Any]:
    return {
        "device": "RTX 4090",
        "level": 1,
        "problem": 3,
        "author": author,
        "ref_code": module("Model", "x.sum()"),
        "code": module("ModelNew", f"x.{author}()"),
        "compiled": True,
        "correct": correct,
        "runtime_ms": milliseconds,
        "runtime_stats": {"mean": milliseconds, "std": 0.01},
    }


def setting(device: str, block: int, milliseconds: float | str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "device": device,
        "problem_size": [64, 32],
        "params": {"block_size_x": block, "filter_height": 3, "filter_width": 5},
    }
    if isinstance(milliseconds, str):
        return {**row, "error": milliseconds}
    return {**row, "time_ms": milliseconds, "samples_ms": [milliseconds * 0.9, milliseconds * 1.1]}


def test_pairs_with_ratios_are_given_both_ways_without_telling_names(tmp_path: Path) -> None:
    rows = [optimised(1, "A100", 2.0, 0.5), optimised(2, "H100", 4.0, None)]
    data = load(write(tmp_path / "pairs.jsonl.gz", rows))
    ratios = sorted(item.outcome.log2_ratio or 0.0 for item in data.records)
    assert ratios == [-2.0, -1.0, -1.0, 1.0, 1.0, 2.0]
    assert data.counts["without_ratio"] == 1
    assert {item.device for item in data.records} == {"a100", "h100"}
    assert len({item.pair for item in data.records}) == 3
    for item in data.records:
        sources = item.outcome.request.kernel.source + item.outcome.request.anchor.source
        assert "ModelNew" not in sources
        assert "9x" not in sources


def test_solutions_of_a_problem_are_compared_with_each_other(tmp_path: Path) -> None:
    rows = [solution("one", True, 1.0), solution("two", True, 4.0), solution("three", False, None)]
    data = load(write(tmp_path / "solutions.jsonl", rows))
    known = {
        (
            item.outcome.request.anchor.source.split("x.")[1][:3],
            item.outcome.request.kernel.source.split("x.")[1][:3],
        ): (item.outcome.log2_ratio)
        for item in data.records
    }
    assert known == {("one", "two"): -2.0, ("two", "one"): 2.0, ("one", "thr"): None, ("two", "thr"): None}
    assert data.counts["failed"] == 2
    assert {item.task for item in data.records} == {"kernelbench-1-3"}


def test_a_tuning_space_keeps_failures_and_knows_its_roofline(tmp_path: Path) -> None:
    rows = [setting("NVIDIA A100", 2**power, 1.0 + power) for power in range(6)]
    rows.append(setting("NVIDIA A100", 999, "CompilationFailedConfig"))
    rows.append(setting("NVIDIA A100", 1000, 0.0))
    path = write(tmp_path / "space_a100.jsonl", rows)
    (tmp_path / "space_kernel.json").write_text(json.dumps({"source": "__global__ void tuned() {}"}))
    space = load_space(path)
    assert space.best == pytest.approx(1e-3)
    assert sum(value is None for value in space.seconds.values()) == 2
    assert space.source.startswith("__global__")
    assert space.task.cases[0].flops == 2 * 64 * 32 * 15
    assert max(space.noise.values()) == pytest.approx(0.2 / math.sqrt(2))


def test_our_own_export_comes_back_whole(tmp_path: Path) -> None:
    known = outcomes(12, devices=("one", "two"))
    path = write(tmp_path / "export.jsonl.gz", [outcome_document(item) for item in known])
    data = load(path)
    assert [item.outcome for item in data.records] == known
    twice = load(write(tmp_path / "twice.jsonl", [outcome_document(item) for item in [*known, *known]]))
    assert twice.counts["duplicates"] == len(known)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no lines"),
        ("{oops", "line 1: not JSON"),
        ("[1]", "line 1: not a JSON object"),
        ('{"hello": 1}', "no known format"),
        ('{"format": "kernelhub-outcome-9"}', "line 1: 'format' is 'kernelhub-outcome-9'"),
        ('{"format": "kernelhub-outcome-1", "request": {}}', "line 1: 'task' is not an object"),
        ('{"params": 3, "device": "x", "time_ms": 1}', "lacks a field"),
        ('{"params": {}, "device": "x", "error": "e"}', "no setting that worked"),
    ],
)
def test_files_that_cannot_be_read_are_named_with_the_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(text)
    with pytest.raises(DatasetError, match=said) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_broken_gzip_binary_and_missing_files_are_named(tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000)[:-20])
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (cut, binary, tmp_path / "missing.jsonl"):
        with pytest.raises(DatasetError, match=path.name):
            load(path)


def test_splits_share_nothing_they_should_not(tmp_path: Path) -> None:
    rows = [optimised(number, gpu, 2.0, 0.5) for number in range(10) for gpu in ("A100", "H100")]
    records = load(write(tmp_path / "pairs.jsonl", rows)).records
    for split, part in (("task", "task"), ("device", "device"), ("random", "pair")):
        made = folds(records, split)  # type: ignore[arg-type]
        assert sum(len(fold.test) for fold in made) == len(records)
        for fold in made:
            train, test = ({getattr(item, part) for item in side} for side in (fold.train, fold.test))
            assert not train & test


def test_tasks_with_nearly_equal_references_stay_together(tmp_path: Path) -> None:
    rows = [optimised(number, "A100", 2.0, 0.5) for number in range(10)]
    rows[1]["ref_code"] = rows[0]["ref_code"] + "\nN = 4096\n"
    rows[0]["ref_code"] += "\nN = 512\n"
    records = load(write(tmp_path / "pairs.jsonl", rows)).records
    for fold in folds(records, "task"):
        tasks = {item.task for item in fold.test}
        assert ("kernelbench-1-0" in tasks) == ("kernelbench-1-1" in tasks)


def test_copies_of_examined_kernels_do_not_teach(tmp_path: Path) -> None:
    """Two problems with different references but the same solutions: one may not teach about the other."""
    rows = [optimised(number, "A100", 2.0, 0.5) for number in range(10)]
    for column in ("custom_code", "cuda_graph_code"):
        rows[1][column] = rows[0][column]
    records = load(write(tmp_path / "pairs.jsonl", rows)).records
    made = folds(records, "task")
    apart = [
        fold
        for fold in made
        if len({"kernelbench-1-0", "kernelbench-1-1"} & {r.task for r in fold.test}) == 1
    ]
    assert len(apart) in (0, 2)
    for fold in apart:
        assert fold.dropped == 2


def test_a_single_device_cannot_be_split_by_device(tmp_path: Path) -> None:
    rows = [optimised(number, "A100", 2.0, 0.5) for number in range(4)]
    records = load(write(tmp_path / "pairs.jsonl", rows)).records
    with pytest.raises(ValueError, match="a single device"):
        folds(records, "device")
