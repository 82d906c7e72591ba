"""The page of a search that has ended: what was measured stands first, and nothing seems to go on."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from leaderboard.search.kinds import Kind
from leaderboard.search.models import RunStatus, SearchCandidate, SearchRun, StopReason
from leaderboard.search.plan import Policy
from leaderboard.templatetags.searches import action_meaning, best_so_far, kind_meaning, kind_name
from surrogate.policy import Action

Status = SearchCandidate.Status


@pytest.fixture
def page(ended: SearchRun, client_of: Callable[[str], Client]) -> Callable[[str], str]:
    """What the owner reads below an address of the run."""
    rows = list(ended.candidates.filter(status=Status.WAITING).order_by("number"))
    rows[0].status = Status.FAILED  # after candidates that only waited
    rows[-1].status = Status.FAILED
    for row in rows[1:-1]:
        row.action, row.reason = Action.DEFER, "Not sure enough: it beats the incumbent with probability 9 %."
    SearchCandidate.objects.bulk_update(rows, ["status", "action", "reason"])
    client = client_of("owner")
    return lambda tail="": client.get(f"/searches/{ended.pk}/{tail}").content.decode()


def test_it_says_in_words_that_the_rest_was_not_measured_and_why(
    ended: SearchRun, page: Callable[[str], str]
) -> None:
    whole = page("")
    waiting = ended.candidates.filter(status=Status.WAITING)
    assert f">{waiting.count()}</strong> not measured: the measurements were used up first" in whole
    assert "deferred</span>" not in whole
    assert not re.search(r">\s*deferred\s*<", whole)
    assert "the incumbent" not in whole
    one = page(f"candidates/{waiting.first().number}/")
    assert "<strong>Not measured</strong>: the measurements were used up first." in one
    assert "Decided by its last forecast: defer" in one
    assert "Decided before it was measured" not in one
    assert "it beats the best kernel so far with probability 9 %" in one


def test_measured_ones_stand_first_and_the_rest_is_folded_away(
    ended: SearchRun, page: Callable[[str], str]
) -> None:
    whole = page("")
    results, rest = whole.index('id="search-table"'), whole.index('id="not-measured"')
    assert results < rest < whole.index('id="search-charts"')
    first = whole[results:rest]
    assert f"/candidates/{ended.candidates.order_by('seconds', 'number').first().number}/" in first
    assert "not measured</span>" not in first
    assert 'class="kind failed"' in first
    assert first.index('class="kind measured"') < first.index('class="kind failed"')
    assert '<details id="not-measured">' in whole
    # Where somebody asks for another order, or for one kind, that is what he gets.
    for tail in ("?sort=newest", "?kind=deferred"):
        assert 'id="not-measured"' not in page(tail), tail
    assert "not measured</span>" in page("?kind=deferred")


def test_while_it_goes_on_what_is_deferred_waits(ended: SearchRun, page: Callable[[str], str]) -> None:
    SearchRun.objects.update(status=RunStatus.PAUSED, stop_reason="", finished_at=None)
    whole = page("")
    assert "deferred</span>" in whole
    assert "used up first" not in whole
    assert whole.index('id="search-charts"') < whole.index('id="search-table"')


@pytest.mark.parametrize("reason", StopReason)
def test_every_end_says_why_the_rest_was_not_measured(reason: StopReason) -> None:
    run = SearchRun(status=RunStatus.FINISHED, stop_reason=reason)
    assert kind_name(Kind.DEFERRED, run) == "not measured"
    assert kind_meaning(Kind.DEFERRED, run)
    for kind in Kind:
        assert "wait" not in kind_meaning(kind, run), kind


def test_every_word_of_the_policy_is_explained() -> None:
    assert all(action_meaning(action, Policy.SURROGATE) for action in Action)
    assert all(action_meaning(action, Policy.TOPK) for action in (Action.MEASURE, Action.SKIP))
    assert best_so_far("It beats the incumbent.") == "It beats the best kernel so far."


def test_the_list_tells_a_searchs_state_also_in_the_column_that_phones_keep_in_sight(
    ended: SearchRun, client_of: Callable[[str], Client]
) -> None:
    html = client_of("owner").get("/searches/").content.decode()
    row = html.partition("<tbody>")[2].partition("</tr>")[0]
    first = row.partition("</th>")[0]
    assert "ended: " in first.partition('class="narrow-only">')[2]
    assert row.partition("</th>")[2].partition('class="wide-only">')[2].count("ended: ") == 1


def test_equal_reasons_of_failed_candidates_are_told_once(
    ended: SearchRun, client_of: Callable[[str], Client]
) -> None:
    rows = list(
        ended.candidates.filter(status=Status.MEASURED).select_related("evaluation").order_by("number")
    )
    said = ["It took over 10 s.", "y <differs>.", "It took over 10 s."]
    for row, why in zip(rows[1:4], said, strict=True):
        assert row.evaluation is not None
        row.status, row.seconds = Status.FAILED, None
        row.evaluation.verdict, row.evaluation.reason = "timeout" if "10" in why else "wrong", why
        row.evaluation.save()
        row.save()
    client = client_of("owner")
    html = client.get(f"/searches/{ended.pk}/table/?kind=failed").content.decode()
    told = html.partition('<details id="failures" open>')[2].partition("</details>")[0]
    first, second = re.findall(r"<li>(.*?)</li>", told)
    assert "Timed out" in first
    assert re.findall(r"candidates/(\d+)/", first) == [str(row.number) for row in (rows[1], rows[3])]
    assert "y &lt;differs&gt;." in second
    assert html.count("It took over 10 s.") == 1
    assert 'id="failures"' not in client.get(f"/searches/{ended.pk}/table/?kind=measured").content.decode()
