"""A board's own address is for the page that fetches it anew, not for people."""

import pytest
from django.test import Client

from leaderboard.models import TaskVersion
from runners.models import Device

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FETCHES = [{"Accept": "*/*", "HX-Request": "true"}, {"Accept": "text/html, */*", "HX-Request": "true"}, {}]


@pytest.mark.parametrize("query", ["", "?device=cpu-test&version=1&kernels=own"])
def test_who_opens_it_gets_the_page(client: Client, version: TaskVersion, device: Device, query: str) -> None:
    address = f"/tasks/double/board/{query}"
    opened = client.get(address, headers=BROWSER)
    assert (opened.status_code, opened["Location"]) == (302, f"/tasks/double/{query}#board")
    page = client.get(opened["Location"].partition("#")[0], headers=BROWSER).content.decode()
    assert 'id="board"' in page
    assert "<html" in page
    for asked in FETCHES:
        part = client.get(address, headers=asked)
        assert (part.status_code, "<html" in part.content.decode()) == (200, False)
        for answer in (opened, part):  # no cache takes one for the other
            assert {"Accept", "HX-Request"} <= set(answer["Vary"].split(", "))


@pytest.mark.django_db
def test_no_page_is_found_by_a_board_of_no_task(client: Client) -> None:
    assert client.get("/tasks/no-such/board/", headers=BROWSER, follow=True).status_code == 404
