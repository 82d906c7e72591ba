"""One candidate: where it comes from, what was said of it, and what it came to."""

import difflib
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.case_names import described
from leaderboard.numbers import whole_number
from leaderboard.search.generators.base import Operator
from leaderboard.search.kinds import ISLAND, MEANINGS, OPERATORS, kind_of
from leaderboard.search.llm.briefs import shared_prompt
from leaderboard.search.llm.stories import findings_of_candidate, profile_of_candidate, story_of
from leaderboard.search.models import SearchCandidate, SearchRun
from leaderboard.search.pages.shared import is_owner, visible
from leaderboard.search.selectors.lineage import MOST_CHILDREN, Tree, changed, tree_of
from leaderboard.search.selectors.records import Judged
from leaderboard.search.selectors.starting import key_label
from runners.contract.vocabulary import SUFFIXES, Language
from runners.models import EvaluationStatus

#: Lines of a source up to which a difference is worked out: the time grows with their square.
_MOST_LINES = 4000
#: Where a stretch of a difference begins, before and now.
_FIRST_LINE = re.compile(r"[-+](\d+)")
#: Ancestors with which a candidate can be compared.
_MOST_COMPARED = 8


@dataclass(frozen=True)
class DiffLine:
    kind: str  # same, added, removed, gap
    mark: str
    text: str


@require_safe
def candidate(request: HttpRequest, run_id: UUID, number: int) -> HttpResponse:
    run = visible(request, run_id)
    found = _candidate(run, number)
    ancestors = _ancestors(run, found)
    other = _compared(request, ancestors)
    evaluation = found.evaluation
    result: dict[str, Any] = (evaluation.result if evaluation else None) or {}
    # The raw report is kept for submissions only.
    profile = None
    if seen := profile_of_candidate(run, found.digest):
        case = described(str(seen.get("case", "")), lambda: run.version)
        profile = {**seen, "raw_bytes": 0, "case": case}
    judged = None
    if found.told_seconds and found.told_spread is not None and found.seconds:
        judged = Judged(
            found.number, found.generation, found.action == "audit", found.told_seconds,
            found.told_spread, found.seconds,
        )  # fmt: skip
    kind = kind_of(found.status, found.action)
    story = story_of(run, found.digest) if run.generator == "llm" else None
    context = {
        "run": run,
        "is_owner": is_owner(request, run),
        "language": key_label(run.language),
        "candidate": found,
        "settings": sorted(found.parameters.items()),
        "kind": kind,
        "is_queued": evaluation is not None and evaluation.status == EvaluationStatus.QUEUED,
        "operator_meaning": OPERATORS[Operator(found.operator)],
        "island_meaning": ISLAND,
        "meaning": MEANINGS[kind],
        "ancestors": ancestors,
        "other": other,
        "diff": diff(other.kernel.source, found.kernel.source) if other else [],
        "changes": changed(other.parameters, found.parameters) if other else (),
        "judged": judged,
        "evaluation": evaluation,
        "result": result,
        "profile": profile,
        "findings": findings_of_candidate(run, found.digest) if profile else "",
        "failed_case": _failed_case(result),
        "story": story,
        "shared_prompt": shared_prompt(run) if story else "",
        "speedup": run.starter_seconds / found.seconds if run.starter_seconds and found.seconds else None,
    }
    return render(request, "leaderboard/search/candidate.html", context)


@require_safe
def source(request: HttpRequest, run_id: UUID, number: int) -> HttpResponse:
    """The source as a plain text file. Never as anything that a browser would run."""
    found = _candidate(visible(request, run_id), number)
    suffix = SUFFIXES[Language(found.kernel.language)][0]
    return HttpResponse(
        found.kernel.source.encode(),
        content_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="search-{run_id}-{number}{suffix}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


@require_safe
def lineage(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The path to the best kernel; what else was built on each of its kernels opens on demand."""
    run = visible(request, run_id)
    tree = tree_of(run)
    path = tree.path()
    following = [node.number for node in path[1:]]
    context = {
        "run": run,
        # A kernel on the way opens where something else was built on it than the next one, which is there.
        "path": [
            (node, node.children - (after is not None), after) for node, after in zip_longest(path, following)
        ],
        **_children(tree, None, {node.number for node in path}),
    }
    return render(request, "leaderboard/search/lineage.html", context)


@require_safe
def children(request: HttpRequest, run_id: UUID, number: int) -> HttpResponse:
    """What was built on one kernel, for the tree to open; a page of its own without scripts."""
    run = visible(request, run_id)
    tree = tree_of(run)
    if number not in tree.nodes:
        raise Http404("There is no such kernel in this search's tree.")
    besides = whole_number(request.GET.get("besides", ""))  # one that is on the page already
    context = {"run": run, "node": tree.nodes[number], **_children(tree, number, {besides})}
    is_part = request.headers.get("HX-Request") == "true"
    name = "_children" if is_part else "children"
    return render(request, f"leaderboard/search/{name}.html", context)


def diff(before: str, now: str) -> list[DiffLine]:
    """Line by line with three lines around each change; nothing for equal or very long sources."""
    old, new = before.splitlines(), now.splitlines()
    if max(len(old), len(new)) > _MOST_LINES:
        return []
    kinds = {"+": "added", "-": "removed", " ": "same"}
    found: list[DiffLine] = []
    for line in difflib.unified_diff(old, new, lineterm="", n=3):
        if line.startswith(("--- ", "+++ ")) and not found:
            continue  # the two lines that would name files
        if line.startswith("@@"):
            found.append(DiffLine("gap", "", f"line {_FIRST_LINE.findall(line)[-1]}"))
        elif line[:1] in kinds:
            found.append(DiffLine(kinds[line[0]], line[0], line[1:]))
    return found


def _candidate(run: SearchRun, number: int) -> SearchCandidate:
    if number >= 2**31:
        raise Http404("There is no such candidate.")
    try:
        return run.candidates.select_related("kernel", "evaluation").get(number=number)
    except SearchCandidate.DoesNotExist:
        raise Http404("There is no such candidate.") from None


def _ancestors(run: SearchRun, found: SearchCandidate) -> list[SearchCandidate]:
    """Its parents in order, or else the starter: what it can be compared with."""
    parents = [str(digest) for digest in found.parents[:_MOST_COMPARED]]
    rows = run.candidates.select_related("kernel")
    if parents:
        by_digest = {row.digest: row for row in rows.filter(digest__in=parents)}
        return [by_digest[digest] for digest in parents if digest in by_digest]
    return list(rows.filter(number=0)) if found.number else []


def _compared(request: HttpRequest, ancestors: Sequence[SearchCandidate]) -> SearchCandidate | None:
    wanted = request.GET.get("against", "")
    chosen = [row for row in ancestors if str(row.number) == wanted]
    return next(iter(chosen or ancestors), None)


def _children(tree: Tree, number: int | None, besides: Container[int | None]) -> dict[str, Any]:
    nodes = [node for node in tree.children(number) if node.number not in besides]
    return {"nodes": nodes[:MOST_CHILDREN], "hidden": max(0, len(nodes) - MOST_CHILDREN)}


def _failed_case(result: dict[str, Any]) -> dict[str, Any] | None:
    cases = [*(result.get("tests") or ()), *(result.get("benchmarks") or ())]
    return next((case for case in cases if case.get("status") in ("failed", "error")), None)
