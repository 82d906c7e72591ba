"""Browsers that show something other than a page ask for the icon at this address, too."""

import pytest
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


@pytest.mark.django_db
def test_pages_lead_to_it(client: Client) -> None:
    html = client.get("/accounts/login/").content.decode()
    assert '<link rel="icon" type="image/svg+xml" href="/favicon.ico">' in html
