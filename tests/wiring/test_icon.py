"""Browsers that show something other than a page ask for the icon at an address of their own."""

from pathlib import Path
from urllib.parse import unquote

from django.conf import settings
from django.test import Client

from kernelhub.icon import SVG


def test_the_icon_is_cached_and_asks_no_database(client: Client) -> None:  # which the test has none of
    client.cookies["sessionid"] = "of-somebody"
    for ask in (client.get, client.head):
        answer = ask("/favicon.ico")
        assert (answer.status_code, answer["Content-Type"]) == (200, "image/svg+xml")
        assert answer["Cache-Control"] == "public, max-age=604800"
        assert not answer.has_header("Vary")
        assert not answer.cookies
    assert client.get("/favicon.ico").content.decode() == SVG
    assert client.post("/favicon.ico").status_code == 405


def test_pages_carry_the_same_one() -> None:
    base = Path(settings.BASE_DIR, "templates", "base.html").read_text()
    assert f'<link rel="icon" href="data:image/svg+xml,{SVG}">' in unquote(base)
