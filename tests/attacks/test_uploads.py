"""Attacks by what is uploaded rather than by what is run: refused with a rule, or shown as plain text."""

import io
import zipfile

import pytest
from django.template import engines

from leaderboard.services.errors import Refusal
from leaderboard.services.sources import read_language, read_source
from runners.contract.vocabulary import Language


def nested_archive(depth: int) -> bytes:
    """An archive of archives; its innermost file is a hundred megabytes of zeros in the original attack."""
    content = bytes(2**20)
    for level in range(depth):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(4):
                archive.writestr(f"{level}-{copy}.zip", content)
        content = buffer.getvalue()
    return content


@pytest.mark.parametrize("depth", [1, 3])
def test_archive_is_refused(depth: int) -> None:
    with pytest.raises(Refusal) as caught:
        read_source(nested_archive(depth))
    assert caught.value.rule in ("not_utf8", "nul_byte")


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/cron.d/kernel",
        "/etc/passwd",
        "k" * 300,
        "kernel.\u202eyp.exe",
        "CON",
        ".",
        "",
        "kernel.py/../../../x",
    ],
)
def test_hostile_file_name(name: str) -> None:
    """A name is never used as a path: it tells a language, or nothing is taken."""
    with pytest.raises(Refusal) as caught:
        read_language("", name)
    assert caught.value.rule == "language_unknown"


@pytest.mark.parametrize(
    "name", ["../../kernel.py", "/root/kernel.py", "a" * 300 + ".py", "\u202ekernel.py", "x\0.py"]
)
def test_hostile_file_name_with_a_known_ending_tells_the_language_only(name: str) -> None:
    assert read_language("", name) == Language.PYTHON


def test_large_source_is_refused() -> None:
    with pytest.raises(Refusal) as caught:
        read_source(b"# x\n" * 500_000)
    assert caught.value.rule == "too_large"


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        (b"a = '\0'", "nul_byte"),
        (b"a = '\xff'", "not_utf8"),
        (b"\xed\xa0\x80", "not_utf8"),
        ("\ud800", "not_utf8"),
    ],
)
def test_bytes_that_are_no_text_are_refused(source: bytes | str, rule: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_source(source)
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "</pre><img src=x onerror=alert(1)>",
        "{{ settings.SECRET_KEY }}",
        "%n%s{0}",
        "\x1b[31mred\x1b[0m\x1b]0;a title\x07\x9b2J",
    ],
)
def test_output_is_drawn_as_plain_text(text: str) -> None:
    """By the line of the page that draws output, taken from its template."""
    page = engines["django"].get_template("leaderboard/_submission_live.html").template.source
    (line,) = [line for line in page.splitlines() if "run.output.stdout }}" in line]
    assert "|safe" not in page
    drawn = engines["django"].from_string(line).render({"run": {"output": {"stdout": text}}})
    assert "<script>" not in drawn
    assert "<img" not in drawn
    assert text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in drawn
