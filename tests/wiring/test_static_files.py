"""Static files are whole answers, so that an ASGI server has nothing to read bit by bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotFound
from django.test import RequestFactory

from kernelhub.static_files import StaticFilesMiddleware

Ask = Callable[..., HttpResponseBase]


@pytest.fixture
def ask(settings: Any, tmp_path: Path) -> Ask:
    (tmp_path / "site.css").write_text("body { margin: 0 }")
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = False

    def elsewhere(request: HttpRequest) -> HttpResponseBase:
        return HttpResponseNotFound()

    middleware = StaticFilesMiddleware(elsewhere)
    return lambda name, **headers: middleware(RequestFactory().get(f"/static/{name}", headers=headers))


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
