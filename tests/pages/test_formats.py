"""Numbers as pages write them."""

import json
import math
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from kernelhub.frontend import _find
from leaderboard.templatetags.facts import device_line, fact_label, fact_value
from leaderboard.templatetags.formats import (
    bounds,
    bytesize,
    chance,
    clock,
    duration,
    error_size,
    interval,
    percent,
    plain,
    rate,
    reltime,
    rough,
    significant,
    speedup,
)
from runners.models import Device

DAY = 86400
#: Seconds ago → as it is told; below 0 what is to come. A little less: a page is read after it was made.
AGES = {
    30: "just now",
    119 * 60: "1 h ago",
    89 * DAY: "2 mo ago",
    700 * DAY: "1 y ago",
    -30: "in under a minute",
    -(DAY - 1000): "in 24 h",
    -(90 * DAY - 1000): "in 90 d",
    -(365 * DAY - 1000): "in 12 mo",
    -(5 * 365 * DAY - 1000): "in 5 y",
}


def ordinary(text: str) -> str:
    return text.replace("\u202f", " ")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1.5e-10, "0.1500 ns"),
        (7.26e-9, "7.260 ns"),
        (1.23456e-5, "12.35 µs"),
        (9.99996e-4, "1.000 ms"),
        (9.9994e-4, "999.9 µs"),
        (0.128763, "128.8 ms"),
        (0.99999, "1.000 s"),
        (1, "1.000 s"),
        (61.25, "61.25 s"),
        (12345, "12345 s"),
    ],
)
def test_a_duration_has_four_digits_and_the_unit_of_its_size(seconds: float, text: str) -> None:
    assert ordinary(duration(seconds)) == text


@pytest.mark.parametrize("value", [None, "", "12", math.nan, math.inf, True, {}])
def test_what_is_no_number_is_shown_as_a_dash(value: object) -> None:
    for write in (duration, speedup, percent, bytesize, clock, plain):
        assert write(value) == "–"
    assert rate(value, "B/s") == "–"


def test_digits_before_the_point_are_never_dropped() -> None:
    assert significant(123456.7) == "123457"
    assert significant(0.00012344) == "0.0001234"
    assert significant(-9.9996) == "-10.00"


def test_a_lopsided_interval_shows_its_wider_side() -> None:
    assert ordinary(interval({"seconds": 1.0, "ci_low": 0.99, "ci_high": 1.05})) == "± 5.0 %"
    assert ordinary(interval({"seconds": 1.0, "ci_low": 0.6, "ci_high": 1.1})) == "± 40 %"
    assert ordinary(interval({"seconds": 1.0, "ci_low": 1.0, "ci_high": 1.0001})) == "± < 0.1 %"


def test_an_interval_that_is_not_there_is_empty() -> None:
    assert interval({"seconds": 1.0}) == ""
    assert interval({"seconds": 0.0, "ci_low": 0.0, "ci_high": 0.0}) == ""
    assert bounds({"ci_low": None, "ci_high": 1.0}) == ""


def test_bounds_carry_their_own_units() -> None:
    text = ordinary(bounds({"ci_low": 9.9e-4, "ci_high": 1.01e-3}))
    assert text == "95 % interval 990.0 µs to 1.010 ms"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "under 1 s"), (12.4, "12 s"), (100, "2 min"), (7500, "2 h 5 min")]
)
def test_waits_are_coarse(seconds: float, text: str) -> None:
    assert ordinary(clock(seconds)) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (64 * 2**20, "64 MiB"), (1536, "1.5 KiB")]
)
def test_sizes_are_binary(size: int, text: str) -> None:
    assert ordinary(bytesize(size)) == text


def test_rates_shares_and_ratios() -> None:
    assert ordinary(rate(3.35e12, "B/s")) == "3.350 TB/s"
    assert ordinary(rate(12, "op")) == "12 op"
    assert ordinary(rate(12.0, "op/s")) == "12.00 op/s"
    assert ordinary(percent(0.8731)) == "87.3 %"
    assert ordinary(percent(1)) == "100 %"
    assert speedup(1.8449) == "1.84×"
    assert plain(1e-10) == "1e-10"


def test_an_error_that_is_not_finite_says_so() -> None:
    assert error_size(None) == "not finite"
    assert error_size(1.27e-3) == "1.27e-03"
    assert error_size(6.66e284) == "> 1e+06"


def test_a_moment_carries_itself_for_machines() -> None:
    moment = timezone.now() - timedelta(hours=3, minutes=5)
    html = ordinary(str(reltime(moment)))
    assert "3 h ago" in html
    assert f'datetime="{moment.isoformat(timespec="seconds")}"' in html
    assert f'data-age="{3 * 3600 + 5 * 60}"' in html
    assert reltime(None) == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.1059, "110 ms"),
        (0.01512, "15 ms"),
        (4.877e-3, "4.9 ms"),
        (9.96e-7, "1.0 µs"),
        (9.94e-7, "990 ns"),
        (12.34, "12 s"),
        (None, "–"),
    ],
)
def test_forecast_times_claim_no_more_than_two_digits(seconds: float | None, text: str) -> None:
    assert ordinary(rough(seconds)) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "< 1 %"), (0.004, "< 1 %"), (0.344, "34 %"), (0.999, "> 99 %"), (None, "–")]
)
def test_no_forecast_is_certain(share: float | None, text: str) -> None:
    assert ordinary(chance(share)) == text


def test_facts_of_devices_have_labels_and_units() -> None:
    assert fact_label("llc_bytes") == "Last-level cache"
    assert fact_label("driver") == "Driver"
    assert ordinary(fact_value(32 * 2**20, "llc_bytes")) == "32 MiB"
    assert fact_value("0.64 2.13 2.76 3/411 12345", "load") == "0.64, 2.13, 2.76"
    assert fact_value("", "governor") == "–"


def test_a_device_in_one_line_holds_what_is_known() -> None:
    facts = {"cores": 1, "machine_cores": 2, "llc_bytes": 32 * 2**20, "memory_bytes": None}
    device = Device(facts=facts, ceilings={"copy_bytes_per_s": 1.25e10})
    line = "1 of the machine’s 2 cores for a run, last-level cache 32 MiB, copies 12.50 GB/s"
    assert ordinary(device_line(device)) == line
    gpu = {"compute_capability": "9.0", "memory_bytes": 140 * 2**30}
    assert ordinary(device_line(Device(facts=gpu))) == "compute capability 9.0, memory 140 GiB"
    assert device_line(Device()) == ""


def test_ages_are_rounded_down_and_what_is_to_come_is_not() -> None:
    now = timezone.now()
    told = {seconds: ordinary(str(reltime(now - timedelta(seconds=seconds)))) for seconds in AGES}
    assert {seconds: html.partition(">")[2].removesuffix("</time>") for seconds, html in told.items()} == AGES


def test_scripts_tell_ages_as_pages_do() -> None:
    if (node := _find("node")) is None:
        pytest.skip("no Node")
    module = Path(__file__).resolve().parents[2] / "static" / "src" / "format.js"
    script = (
        f"import {{ formatAge }} from {json.dumps(module.as_uri())};"
        f"console.log(JSON.stringify({json.dumps(list(AGES))}.map(formatAge)))"
    )
    command = [node, "--input-type=module", "--eval", script]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [ordinary(text) for text in json.loads(answer)] == list(AGES.values())
