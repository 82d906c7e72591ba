"""Text colours hold a contrast of 4.5 on the grounds they stand on, in both themes (WCAG 2, level AA)."""

import re
from pathlib import Path

import pytest

CSS = Path(__file__).resolve().parents[2] / "static" / "src" / "css"
TEXTS = ("text", "quiet", "accent", "good", "bad", "warn")
GROUNDS = ("ground", "raised")
OWN_GROUNDS = (
    ("text", "good-ground"),
    ("text", "bad-ground"),
    ("text", "warn-ground"),
    ("quiet", "bad-ground"),
)
PAIRS = [(text, ground) for text in TEXTS for ground in GROUNDS]
PAIRS += [*OWN_GROUNDS, ("on-accent", "accent"), ("bad", "bad-ground"), ("warn", "warn-ground")]


def colours() -> dict[str, tuple[str, str]]:
    text = (CSS / "base.css").read_text()
    return {name: (light, dark) for name, light, dark in re.findall(_PAIR, text)}


_PAIR = r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)"


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_the_measure_knows_its_ends() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_can_be_read_in_both_themes(text: str, ground: str) -> None:
    found = colours()
    for theme in (0, 1):
        assert contrast(found[text][theme], found[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1])
def test_source_colours_can_be_read_too(theme: int) -> None:
    grounds = colours()["ground"]
    tokens = re.findall(
        r"\.tok-[^{]*\{ color: light-dark\((#\w{6}), (#\w{6})\)", (CSS / "code.css").read_text()
    )
    assert len(tokens) >= 6
    for pair in tokens:
        assert contrast(pair[theme], grounds[theme]) >= 4.5, pair
