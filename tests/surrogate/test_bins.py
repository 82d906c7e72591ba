"""Prompt, labels and metrics must mean the same bins."""

import math
import random
import re

import pytest

from surrogate.contract import bins
from surrogate.contract.answer import answer_schema
from surrogate.metrics import forecast_metrics


def stated_bounds(line: str) -> tuple[float, float]:
    """The speed-ups a person or model reads in a prompt line."""
    low = re.search(r"([0-9.]+) <= speed-up", line)
    high = re.search(r"speed-up < ([0-9.]+)", line)
    return (float(low[1]) if low else 0.0, float(high[1]) if high else math.inf)


def test_prompt_labels_and_metrics_agree_on_every_bin() -> None:
    lines = bins.prompt_table().splitlines()
    assert len(lines) == bins.COUNT
    for index, line in enumerate(lines):
        low, high = stated_bounds(line)
        inside = 2 ** bins.midpoint(index)
        # What the prompt says holds for the number that stands for the bin …
        assert low < inside < high
        # … labels put that number there, and the numbers just inside the stated bounds …
        assert bins.label(inside) == index
        if low > 0:
            assert bins.label(low + 1e-3) == index
            assert bins.label(low - 1e-3) == index - 1
        # … the letter in the prompt names that bin, in the schema too …
        assert bins.index_of(line[0]) == index
        described = answer_schema()["properties"]["probabilities"]["properties"][line[0]]["description"]
        assert stated_bounds(described) == (low, high)
        # … and the metrics call a forecast of that bin exact.
        metrics = forecast_metrics([bins.one_hot(index)], [math.log2(inside)])
        assert metrics["exact_bin"] == 1.0
        assert metrics["crps"] == 0.0


def test_a_kernel_as_fast_as_its_anchor_is_in_the_first_bin_that_is_not_slower() -> None:
    assert bins.label(1.0) == bins.EDGES.index(0.0) + 1
    assert bins.label(math.nextafter(1.0, 0.0)) == bins.EDGES.index(0.0)


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf])
def test_impossible_speed_ups_have_no_label(ratio: float) -> None:
    with pytest.raises(ValueError, match="finite and above zero"):
        bins.label(ratio)


def test_quantile_inverts_cumulative() -> None:
    probabilities = bins.normal(0.3, 0.8)
    for share in (0.05, 0.1, 0.5, 0.9, 0.99):
        assert bins.cumulative(probabilities, bins.quantile(probabilities, share)) == pytest.approx(share)


def test_samples_follow_the_distribution() -> None:
    probabilities = bins.normal(-0.4, 0.5)
    source = random.Random(1)
    counts = [0] * bins.COUNT
    for _ in range(20_000):
        counts[bins.label_log2(bins.sample(probabilities, source))] += 1
    for count, mass in zip(counts, probabilities, strict=True):
        assert count / 20_000 == pytest.approx(mass, abs=0.012)


def test_normal_puts_its_mass_where_the_mean_is() -> None:
    probabilities = bins.normal(0.7, 0.3)
    assert sum(probabilities) == pytest.approx(1.0)
    assert bins.mean(probabilities) == pytest.approx(0.7, abs=0.1)
