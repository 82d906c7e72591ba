"""The charts of a search before there is much to draw: what the page holds for them, and their scales."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from kernelhub.frontend import _find
from tests.search_pages.conftest import Start

SOURCES = Path(__file__).resolve().parents[2] / "static" / "src"


def said_by(script: str) -> dict[str, Any]:
    """What a script prints that may import the site's own."""
    if (node := _find("node")) is None:
        pytest.skip("no Node")
    command = [node, "--input-type=module", "--eval", script]
    found: dict[str, Any] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    return found


def scales_of(starter: float | None, *bests: float) -> dict[str, Any]:
    """The scales of the chart of the best, by the site's own script."""
    steps = [{"measurements": place, "seconds": best} for place, best in enumerate(bests, 1)]
    script = (
        f"import {{ progressChart }} from {json.dumps((SOURCES / 'search-progress.js').as_uri())};"
        f"const data = {{ steps: {json.dumps(steps)}, starter: {json.dumps(starter)}, bandAlong() {{}} }};"
        "const { options } = progressChart(data, 'measurements', { colours: {}, font: {} });"
        "console.log(JSON.stringify(options.scales));"
    )
    return said_by(script)


def test_a_chart_without_a_time_has_a_sentence_to_stand_in_its_place(
    start: Start, client_of: Callable[[str], Client]
) -> None:
    """search.js shows one of the two; without scripts there is neither."""
    html = client_of("owner").get(f"/searches/{start().pk}/").content.decode()
    pairs = re.findall(
        r'<div class="chart tall" hidden>.*</div>\s*<p class="chart-empty quiet" hidden>(.*)</p>', html
    )
    assert pairs == [
        "No candidate has passed with a time so far.",
        "No candidate has a time or a forecast so far.",
    ]
    assert scales_of(None)["y"]["display"] is False
    assert scales_of(0.002)["y"]["display"] is True


def test_every_line_of_the_best_has_its_place_in_the_legend(
    start: Start, client_of: Callable[[str], Client]
) -> None:
    html = client_of("owner").get(f"/searches/{start().pk}/").content.decode()
    for name, words in {
        "best": "best so far",
        "starter": "the task’s starter",
        "random": "random draws",
    }.items():
        assert re.search(rf'<li id="{name}-key" hidden><svg class="stroke {name}".*?</svg>{words}', html), (
            name
        )


def test_equal_times_are_not_stretched_to_the_whole_height() -> None:
    flat, apart = scales_of(0.06204, 0.0620412)["y"], scales_of(0.06204, 0.0310)["y"]
    assert flat["suggestedMin"] < 0.06 < 0.065 < flat["suggestedMax"]
    assert "suggestedMin" not in apart


def test_the_band_of_random_draws_stands_along_each_axis_on_which_they_have_a_place() -> None:
    script = (
        f"import * as module from {json.dumps((SOURCES / 'search-data.js').as_uri())};"
        "const data = Object.create(module.SearchData.prototype);"
        "data.band = { low: [1], high: [3], expected: [2], sample: 8, is_sieved: false };"
        "data.steps = [{ measurements: 4, device_seconds: 40, elapsed: 80, dollars: 0 }];"
        "const found = {};"
        "for (const axis of ['measurements', 'device_seconds', 'elapsed', 'dollars'])"
        "  found[axis] = [data.bandAlong(axis)?.expected[0].x ?? null, data.bandNote(axis)];"
        "console.log(JSON.stringify(found));"
    )
    found = said_by(script)
    assert [place for place, _ in found.values()] == [1, 10, 20, None]
    assert "mean time between measurements" in found["elapsed"][1]
    assert "no place along this axis" in found["dollars"][1]
