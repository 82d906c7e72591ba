"""The table of candidates: filters, orders, pages by cursor, the file, and how many queries a page takes."""

import csv
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.search.kinds import Kind
from leaderboard.search.models import SearchCandidate, SearchRun
from leaderboard.search.selectors import candidates
from leaderboard.search.selectors.candidates import SORTS, Query
from runners.models import Device, Kernel

Status = SearchCandidate.Status


@pytest.fixture
def ended(ended: SearchRun) -> SearchRun:
    """With a candidate of every kind, and equal times among them."""
    rows = list(ended.candidates.order_by("number"))
    measured = [row for row in rows if row.status == Status.MEASURED]
    waiting = [row for row in rows if row.status == Status.WAITING]
    measured[3].action = "audit"
    measured[4].seconds = measured[5].seconds
    waiting[0].action, waiting[1].action = "skip", "defer"
    waiting[2].status, waiting[3].status, waiting[4].status = Status.DROPPED, Status.FAILED, Status.MEASURING
    SearchCandidate.objects.bulk_update([*measured, *waiting], ["action", "status", "seconds"])
    return ended


def test_pages_by_cursor_are_the_whole_in_order(ended: SearchRun) -> None:
    for sort in SORTS:
        for size in (1, 7, 50):
            walk(ended, sort, size)


def walk(ended: SearchRun, sort: str, size: int) -> None:
    field, falls = SORTS[sort]
    walked: list[SearchCandidate] = []
    query = Query(sort=sort)
    while True:
        page = candidates.page(ended, query, size)
        walked += [row.candidate for row in page.rows]
        if not page.next:
            break
        query = Query.of({"sort": sort, "after": page.next})

    def place(row: SearchCandidate) -> tuple[bool, float, int]:
        value = getattr(row, field)
        return (value is None, (-value if falls else value) if value is not None else 0, row.number)

    every = list(ended.candidates.all())
    assert [row.number for row in walked] == [row.number for row in sorted(every, key=place)]


def test_every_candidate_is_of_one_kind_and_filters_find_it(ended: SearchRun) -> None:
    counts = candidates.counts(ended)
    assert set(counts.kinds) == set(Kind)
    assert counts.total == ended.considered
    for kind, number in counts.kinds.items():
        rows = candidates.page(ended, Query(kind=kind), 200).rows
        assert [row.kind for row in rows] == [kind] * number
    for operator, number in counts.operators.items():
        assert len(candidates.page(ended, Query(operator=operator), 200).rows) == number


def test_the_file_holds_the_filtered_rows_and_no_formula(
    ended: SearchRun, client_of: Callable[[str], Client]
) -> None:
    worst = ended.candidates.get(number=1)
    worst.reason, worst.parameters = "=1+1", {"@a": "b"}
    worst.save()
    answer = client_of("owner").get(f"/searches/{ended.pk}/candidates.csv?sort=fastest")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    rows = list(csv.DictReader(answer.content.decode().splitlines()))
    assert len(rows) == ended.considered
    assert rows[0]["seconds"] == repr(ended.best_seconds)
    odd = next(row for row in rows if row["number"] == "1")
    assert (odd["reason"], odd["parameters"]) == ("'=1+1", "'@a=b")
    some = client_of("owner").get(f"/searches/{ended.pk}/candidates.csv?kind=skipped").content.decode()
    assert len(some.splitlines()) == 1 + candidates.counts(ended).kinds[Kind.SKIPPED]


def test_what_no_page_of_ours_asks_is_not_found(ended: SearchRun, client_of: Callable[[str], Client]) -> None:
    for tail in ("?sort=odd", "table/?after=x", "data/?since=-1", "candidates/99999/", "lineage/99999/"):
        assert client_of("owner").get(f"/searches/{ended.pk}/{tail}").status_code == 404, tail


#: Queries of each page: session, user, run and the site's state among them.
QUERIES = {
    "": 14, "live/": 6, "table/": 5, "record/": 7, "data/": 8, "data/?since=5": 7, "candidates.csv": 4,
    "candidates/5/": 8, "lineage/": 6,
}  # fmt: skip


def test_a_page_takes_as_many_queries_for_many_candidates_as_for_few(
    ended: SearchRun,
    client_of: Callable[[str], Client],
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    client, few = client_of("owner"), {}
    for tail, most in QUERIES.items():
        with django_assert_max_num_queries(most, info=tail) as asked:
            client.get(f"/searches/{ended.pk}/{tail}")
        few[tail] = len(asked)
    same = {"run": ended, "kernel": Kernel.objects.first(), "seq": ended.seq, "generation": 9, "island": 0}
    same |= {"operator": "random", "action": "measure", "status": Status.MEASURED}
    same |= {"forecast_seconds": 1e-3, "forecast_spread": 0.3}
    many = [
        SearchCandidate(number=1000 + place, digest=f"d{place}", seconds=1e-3 + place * 1e-6, **same)
        for place in range(200)
    ]
    SearchCandidate.objects.bulk_create(many)
    for tail, most in few.items():
        with django_assert_max_num_queries(most, info=tail):
            assert client.get(f"/searches/{ended.pk}/{tail}").status_code == 200


def test_the_list_takes_as_many_queries_for_many_searches_as_for_few(
    ended: SearchRun,
    owner: User,
    device: Device,
    client_of: Callable[[str], Client],
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    client = client_of("owner")
    with django_assert_max_num_queries(6) as few:
        client.get("/searches/")
    for _ in range(5):
        ended.pk = None
        ended._state.adding = True
        ended.save()
    with django_assert_max_num_queries(len(few)):
        page = client.get("/searches/?whose=mine").content.decode()
    assert page.count("/candidates/") == 0
    assert page.count("Row softmax") == 6
