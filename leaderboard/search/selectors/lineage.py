"""Who descends from whom: the path to the best kernel, and the children of any."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from leaderboard.search.kinds import Kind, kind_of
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import SearchCandidate, SearchRun

#: Children that are listed under one kernel, the fastest first.
MOST_CHILDREN = 40
#: Kernels of the path that are shown, the newest ones.
MOST_STEPS = 200


@dataclass(frozen=True)
class Node:
    """A candidate in the tree. ``changes`` are parameters that differ from its first parent's."""

    number: int
    kind: Kind
    operator: str
    generation: int
    seconds: float | None
    parents: tuple[int, ...]  # numbers
    children: int  # measured or failed ones
    changes: tuple[tuple[str, Any, Any], ...] = ()  # (name, before, now)
    idea: str = ""  # a language model's own words
    ratio: float | None = None  # times faster than its first parent


@dataclass(frozen=True)
class Tree:
    """Measured and failed candidates: those are what others are built on."""

    nodes: Mapping[int, Node]
    below: Mapping[int | None, list[int]] = field(repr=False)  # by first parent; None: built on nothing
    best: int | None = None

    def path(self) -> list[Node]:
        """From the kernel that the best one goes back to, to the best one."""
        found: list[Node] = []
        number = self.best
        while number is not None and len(found) < MOST_STEPS:
            node = self.nodes[number]
            found.append(node)
            number = node.parents[0] if node.parents else None
        return found[::-1]

    def children(self, number: int | None) -> list[Node]:
        """Fastest first, failed ones last."""
        nodes = [self.nodes[child] for child in self.below.get(number, ())]
        return sorted(nodes, key=lambda node: (node.seconds is None, node.seconds or 0.0, node.number))


def tree_of(run: SearchRun) -> Tree:
    """Two queries; of a template's run one."""
    status = SearchCandidate.Status
    rows = list(
        run.candidates.filter(status__in=(status.MEASURED, status.FAILED))
        .order_by("number")
        .values_list(
            "number",
            "digest",
            "parents",
            "status",
            "action",
            "operator",
            "generation",
            "seconds",
            "parameters",
        )
    )
    numbers = {row[1]: row[0] for row in rows}
    seconds = {row[0]: row[7] for row in rows}
    settings = {row[0]: row[8] for row in rows}
    ideas = _ideas(run)
    below: dict[int | None, list[int]] = {}
    parents = {
        row[0]: tuple(numbers[digest] for digest in row[2] if digest in numbers and numbers[digest] < row[0])
        for row in rows
    }
    for number, ancestors in parents.items():
        below.setdefault(ancestors[0] if ancestors else None, []).append(number)
    nodes = {}
    for number, digest, _, state, action, operator, generation, took, parameters in rows:
        first = parents[number][0] if parents[number] else None
        before = seconds.get(first) if first is not None else None
        nodes[number] = Node(
            number=number,
            kind=kind_of(state, action),
            operator=operator,
            generation=generation,
            seconds=took,
            parents=parents[number],
            children=len(below.get(number, ())),
            changes=changed(settings.get(first) or {}, parameters) if first is not None else (),
            idea=ideas.get(digest, ""),
            ratio=before / took if before and took else None,
        )
    worked = [(took, number) for number, took in seconds.items() if took]
    return Tree(nodes, below, min(worked)[1] if worked else None)


def changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[tuple[str, Any, Any], ...]:
    """(name, before, now) of parameters that differ. Nothing where one of them has none: a starter."""
    if not before or not now:
        return ()
    return tuple(
        (name, before.get(name), value) for name, value in sorted(now.items()) if before.get(name) != value
    )


def _ideas(run: SearchRun) -> dict[str, str]:
    if run.generator != "llm":
        return {}
    used = JournalEntry.objects.filter(run=run, kind=JournalEntry.Kind.USED)
    rows = used.values_list("document__digest", "document__idea")
    return {str(digest): str(idea or "") for digest, idea in rows}
