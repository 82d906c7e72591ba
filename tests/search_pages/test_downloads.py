"""Files made of a whole search: in turn, and without keeping a database connection from others."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

from leaderboard.search.models import SearchRun
from leaderboard.search.selectors import candidates, recordings
from leaderboard.search.selectors.candidates import Query
from leaderboard.search.selectors.runs import get_any
from leaderboard.services.turns import turn


@pytest.fixture(autouse=True)
def _no_turns_of_others() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def public(ended: SearchRun) -> SearchRun:
    SearchRun.objects.filter(pk=ended.pk).update(is_public=True)
    return ended


def addresses(run: SearchRun) -> tuple[str, str]:
    return f"/searches/{run.pk}/candidates.csv", f"/api/v1/searches/{run.pk}/pool/"


def test_who_has_a_download_under_way_waits_for_it(
    public: SearchRun, client_of: Callable[[str], Client]
) -> None:
    page, api = addresses(public)
    stranger, owner = client_of("anonymous"), client_of("owner")
    with turn("address:127.0.0.1"):
        for address in (page, api):
            refused = stranger.get(address)
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
            assert b"one at a time" in refused.content
            assert owner.get(address).status_code == 200, "another account, and there is another turn"
        assert stranger.get(api).json()["error"]["code"] == "one_download"
    assert [stranger.get(address).status_code for address in (page, api)] == [200, 200]


def test_when_the_sites_turns_are_taken_everybody_is_told_at_once(
    public: SearchRun, client_of: Callable[[str], Client]
) -> None:
    with ExitStack() as held:
        for who in ("a", "b"):
            held.enter_context(turn(who))
        for address in addresses(public):
            refused = client_of("owner").get(address)
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        page = client_of("owner").get(addresses(public)[0]).content.decode()
        assert "As many downloads are being made as the site makes at once" in page
        assert client_of("anonymous").get(f"/searches/{public.pk}/").status_code == 200, "pages go on"
    assert client_of("owner").get(addresses(public)[0]).status_code == 200


def test_a_file_of_several_reads_is_whole(
    ended: SearchRun, client_of: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of("owner")
    table = f"/searches/{ended.pk}/candidates.csv"
    whole = [client.get(f"{table}?sort={sort}").content for sort in candidates.SORTS]
    lines = list(recordings.recording_of(ended))
    monkeypatch.setattr(candidates, "_BATCH", 4)
    monkeypatch.setattr(recordings, "_ROWS", 4)
    monkeypatch.setattr(recordings, "_EVENTS", 1)
    assert [client.get(f"{table}?sort={sort}").content for sort in candidates.SORTS] == whole
    assert list(recordings.recording_of(ended)) == lines
    assert len(lines) == 1 + ended.considered
    assert len(list(candidates.every_row(ended, Query(), 6))) == 6, "no more than asked for"


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_kept_while_a_file_or_a_page_is_handed_on(
    public: SearchRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "_ROWS", 4)
    lines = recordings.recording_of(get_any(public.pk))
    next(lines)  # of the run alone
    for _ in lines:
        assert connection.connection is None
    for _ in candidates.every_row(public, Query(), 100):
        assert connection.connection is None
    assert Client().get(f"/searches/{public.pk}/").status_code == 200
    assert connection.connection is None
