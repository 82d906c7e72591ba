"""Static files are whole answers, so that an ASGI server has nothing to read bit by bit."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotFound
from django.test import RequestFactory

from kernelhub.static_files import StaticFilesMiddleware

Ask = Callable[..., HttpResponseBase]
SCRIPT = "run();" * 100


@pytest.fixture
def ask(settings: Any, tmp_path: Path) -> Ask:
    (tmp_path / "site.css").write_text("body { margin: 0 }")
    (tmp_path / "site.js").write_text(SCRIPT)
    (tmp_path / "site.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = False

    def elsewhere(request: HttpRequest) -> HttpResponseBase:
        return HttpResponseNotFound()

    middleware = StaticFilesMiddleware(elsewhere)
    make = RequestFactory()
    return lambda name, method="GET", **headers: middleware(
        make.generic(method, f"/static/{name}", headers=headers)
    )


def test_a_file_comes_whole_with_its_headers(ask: Ask) -> None:
    answer = ask("site.css")
    assert not answer.streaming
    assert answer.content == b"body { margin: 0 }"  # type: ignore[attr-defined]
    assert answer["Content-Type"].startswith("text/css")
    assert answer["Content-Length"] == "18"


def test_parts_and_known_files_are_answered_as_asked(ask: Ask) -> None:
    part = ask("site.css", range="bytes=0-3")
    assert (part.status_code, part.content) == (206, b"body")  # type: ignore[attr-defined]
    known = ask("site.css", if_modified_since=ask("site.css")["Last-Modified"])
    assert (known.status_code, known.content) == (304, b"")  # type: ignore[attr-defined]
    assert "Content-Type" not in known
    assert ask("other.css").status_code == 404


@pytest.mark.parametrize(
    ("asked", "content", "told"),
    [
        ("bytes=0-0", b"b", "bytes 0-0/18"),
        ("bytes=14-", b" 0 }", "bytes 14-17/18"),
        ("bytes=5-99", b"{ margin: 0 }", "bytes 5-17/18"),
        ("bytes=-3", b"0 }", "bytes 15-17/18"),
        ("Bytes=-99", b"body { margin: 0 }", "bytes 0-17/18"),
    ],
)
def test_a_part_comes_with_its_place(ask: Ask, asked: str, content: bytes, told: str) -> None:
    part = ask("site.css", range=asked)
    assert (part.status_code, part.content) == (206, content)  # type: ignore[attr-defined]
    assert (part["Content-Range"], part["Content-Length"]) == (told, str(len(content)))
    assert part["Content-Type"].startswith("text/css")


@pytest.mark.parametrize(
    "asked",
    ["bytes=--5", "bytes=5-3", "bytes=+1-2", "bytes=1_0-12", "bytes=a-b", "bytes=-", "bytes=1", "lines=1-2",
     "", "bytes=0-1,4-5", "bytes=\uff11-2", "bytes=0-" + "9" * 5000],
)  # fmt: skip
def test_all_but_one_good_range_is_as_if_not_said(ask: Ask, asked: str) -> None:
    whole = ask("site.css", range=asked)
    assert (whole.status_code, len(whole.content)) == (200, 18)  # type: ignore[attr-defined]
    assert whole["Content-Length"] == "18"
    assert "Content-Range" not in whole


def test_ranges_are_for_get_and_for_the_file_as_it_is(ask: Ask) -> None:
    head = ask("site.css", "HEAD", range="bytes=0-3")
    assert (head.status_code, head["Content-Length"]) == (200, "18")
    assert ask("site.css", range="bytes=0-3", if_range='"another"').status_code == 200


@pytest.mark.parametrize("asked", ["bytes=18-", "bytes=18-20", "bytes=-0"])
def test_a_range_past_the_end_says_how_long_the_file_is(ask: Ask, asked: str) -> None:
    refused = ask("site.css", range=asked)
    assert (refused.status_code, refused.content) == (416, b"")  # type: ignore[attr-defined]
    assert (refused["Content-Range"], refused["Content-Length"]) == ("bytes */18", "0")
    assert "Content-Type" not in refused


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br", "gzip"),
        ("GZip", "gzip"),
        ("x-gzip", "gzip"),
        ("gzip;q=0.001", "gzip"),
        ("br ; q=1.000, gzip ; q=0.5", "gzip"),
        ("*", "gzip"),
        ("identity;q=0, *", "gzip"),
        ("identity;q=0, gzip;q=0.1", "gzip"),
        ("*;q=0, gzip", "gzip"),
        ("gzip;q=0", ""),
        ("gzip ; q=0.000", ""),
        ("x-gzip;q=0", ""),
        ("*, gzip;q=0", ""),
        ("*;q=0", ""),  # nothing is acceptable: as it is
        ("identity;q=0", ""),
        ("identity;q=0, gzip;q=0", ""),
        ("identity, gzip;q=0.5", ""),
        ("deflate, br", ""),
        ("not-gzip", ""),
        ("gzip;q=2", ""),  # is no weight, so it says nothing
        ("gzip;q=-0", ""),
        ("gzip;q=\uff11", ""),
        ("gzip;q=" + "0" * 5000, ""),
        ("", ""),
        (None, ""),
    ],
)
def test_a_file_is_sent_in_a_coding_that_is_accepted(ask: Ask, accepted: str | None, coding: str) -> None:
    for method in ("GET", "HEAD"):
        headers = {} if accepted is None else {"accept_encoding": accepted}
        answer = ask("site.js", method, **headers)
        assert (answer.status_code, answer.get("Content-Encoding", "")) == (200, coding)
        assert answer["Vary"] == "Accept-Encoding"
        content = gzip.compress(SCRIPT.encode()) if coding else SCRIPT.encode()
        assert answer["Content-Length"] == str(len(content))
        if method == "GET":
            got = answer.content  # type: ignore[attr-defined]
            assert (gzip.decompress(got) if coding else got) == SCRIPT.encode()
    assert "Content-Encoding" not in ask("site.css", accept_encoding="gzip, identity;q=0"), (
        "there is no other"
    )


def test_other_methods_are_refused_with_a_length(ask: Ask) -> None:
    refused = ask("site.css", "POST")
    assert (refused.status_code, refused["Allow"], refused["Content-Length"]) == (405, "GET, HEAD", "0")
