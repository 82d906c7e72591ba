"""The page of one candidate and the tree; whatever a kernel, a compiler or a model wrote, none of it runs."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import SearchCandidate, SearchRun
from leaderboard.search.selectors.lineage import tree_of
from tests.pages.conftest import HOSTILE, failing_result  # noqa: F401 - a fixture
from tests.pages.test_pages import assert_clean

Status = SearchCandidate.Status
Kind = JournalEntry.Kind


def page(client: Client, run: SearchRun, tail: str, **headers: str) -> str:
    answer = client.get(f"/searches/{run.pk}/{tail}", headers=headers)
    assert answer.status_code == 200
    html = answer.content.decode()
    assert_clean(html)
    assert HOSTILE not in html
    return html


@pytest.fixture
def child(ended: SearchRun) -> SearchCandidate:
    """A measured candidate with two parents."""
    found = ended.candidates.filter(status=Status.MEASURED).order_by("number").last()
    assert found is not None
    found.parents = [ended.candidates.get(number=number).digest for number in (0, 1)]
    found.save()
    return found


def test_a_candidate_is_compared_with_each_of_its_parents(
    child: SearchCandidate, client_of: Callable[[str], Client]
) -> None:
    client, run, path = client_of("owner"), child.run, f"candidates/{child.number}/"
    first = page(client, run, path)
    assert "Against its parent" in first
    assert 'class="line removed"' in first
    assert "Changed settings" not in first  # a starter has none
    second = page(client, run, f"{path}?against=1")
    assert f"/searches/{run.pk}/candidates/1/" in second
    assert "Changed settings" in second
    source = client.get(f"/searches/{run.pk}/{path}source/")
    assert source.content.decode() == child.kernel.source
    assert source.headers["Content-Type"].startswith("text/plain")


def test_a_failed_candidate_says_why(
    child: SearchCandidate,
    client_of: Callable[[str], Client],
    failing_result: dict[str, Any],  # noqa: F811
) -> None:
    assert child.evaluation is not None
    child.evaluation.verdict, child.evaluation.reason = "wrong", f"y differs {HOSTILE}"
    child.evaluation.result = failing_result
    child.evaluation.save()
    child.status, child.seconds, child.reason = Status.FAILED, None, HOSTILE
    child.save()
    html = page(client_of("owner"), child.run, f"candidates/{child.number}/")
    for words in ("Wrong result", "Failed case:", "Worst element", "Compiler’s words"):
        assert words in html


def test_a_kernel_of_a_language_model_tells_its_story(
    child: SearchCandidate, client_of: Callable[[str], Client]
) -> None:
    run = child.run
    run.generator = "llm"
    run.save()
    asked = {"arm": "model:high", "operator": "diff", "prompt": f"Write {HOSTILE}"}
    replied = {"model": "model", "text": f"Here {HOSTILE}", "cost": 0.0123, "seconds": 3.0, "tokens": 900}
    used = {"digest": child.digest, "idea": f"Fewer passes {HOSTILE}", "fault": ""}
    vote = {"digest": child.digest, "verifier": "memory", "fails": True, "reason": f"Line 4 {HOSTILE}"}
    taken_back = {**vote, "verifier": "numerics", "fails": False, "first": True}
    read = {"cost": "0.0007", "tokens": 50}
    for kind, step, document in (
        (Kind.ASKED, "g1.i0.s0.t1", asked),
        (Kind.REPLIED, "g1.i0.s0.t1", replied),
        (Kind.USED, "g1.i0.s0.t1", used),
        (Kind.VOTED, "g1.i0.s0.t1.memory", vote),
        (Kind.VOTED, "g1.i0.s0.t1.numerics", taken_back),
        *(
            (kind, f"g1.i0.s0.t1.{name}", read | {"arm": "reader"})
            for kind in (Kind.ASKED, Kind.REPLIED)
            for name in ("memory", "numerics", "numerics.r")
        ),
        # Another kernel's, whose step begins alike, and answers that gave none.
        (Kind.ASKED, "g1.i0.s0.t10.memory", read | {"arm": "reader"}),
        (Kind.REPLIED, "g1.i0.s0.t10.memory", read),
        *(
            (Kind.USED, f"g2.i0.s{place}.t0", {"fault": fault, "message": HOSTILE})
            for place, fault in enumerate(("alike", "truncated", "truncated"))
        ),
    ):
        JournalEntry.objects.create(run=run, kind=kind, step=step, document=document)
    client = client_of("owner")
    form = {"data": {"steps": ["subtract the peak"], "ideas": []}, "cost": "0", "tokens": 0}
    JournalEntry.objects.create(run=run, kind=Kind.ASKED, step="form", document={"arm": "reader"})
    JournalEntry.objects.create(run=run, kind=Kind.REPLIED, step="form", document=form)
    html = page(client, run, f"candidates/{child.number}/")
    for words in ("You write fast compute kernels.", "- cores: 2", "- subtract the peak"):
        assert words in html, "what all prompts begin with"
    for words in ("Fewer passes", "Prompt", "Reply", "will fail", "Line 4", "took it back when asked again"):
        assert words in html
    assert "$0.0021</span> of it for verifiers" in html
    assert "$0.0144" in html  # written and read
    whole = page(client, run, "")
    for words in ("Spend by model", "model:high", "$0.0123", "Tokens", "Money"):
        assert words in whole
    assert '2</span> cut off, <span class="number">1</span> all but a kernel known before.' in whole
    assert "Fewer passes" in page(client, run, "lineage/0/")


def test_the_tree_leads_to_the_best_and_opens_on_demand(
    child: SearchCandidate, client_of: Callable[[str], Client]
) -> None:
    run = child.run
    SearchCandidate.objects.filter(pk=child.pk).update(seconds=1e-9)
    SearchCandidate.objects.filter(run=run, number=1).update(parents=child.parents[:1])
    tree = tree_of(run)
    assert [node.number for node in tree.path()] == [0, child.number]
    assert sum(len(numbers) for numbers in tree.below.values()) == len(tree.nodes)
    assert child.number in [node.number for node in tree.children(0)]
    client = client_of("owner")
    # None is listed twice: neither the next one under the one before, nor the first one as a root.
    whole = page(client, run, "lineage/")
    assert [whole.count(f">Candidate {number}<") for number in (0, child.number)] == [1, 1]
    others = len(tree.children(0)) - 1
    assert others > 0
    assert f"{others} more built on it" in whole
    rest = page(client, run, f"lineage/0/?besides={child.number}", hx_request="true")
    assert f">Candidate {child.number}<" not in rest
    assert rest.count(">Candidate ") == others
    part = page(client, run, "lineage/0/", hx_request="true")
    assert part.lstrip().startswith("<li>")
    assert "<h1>" in page(client, run, "lineage/0/")


def test_a_ring_of_parents_ends(child: SearchCandidate) -> None:
    """Nothing in the database forbids one, and the tree must not follow it for ever."""
    SearchCandidate.objects.filter(run=child.run, number=0).update(parents=[child.digest])
    SearchCandidate.objects.filter(pk=child.pk).update(seconds=1e-9)
    assert [node.number for node in tree_of(child.run).path()] == [0, child.number]
