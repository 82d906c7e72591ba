"""A journal as the generator reads it: steps asked, replied and used, votes, and what was spent."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from leaderboard.search.llm.bandit import Bandit, reward_of
from leaderboard.search.llm.examples import Use, gained, uses_of
from leaderboard.search.llm.journal import Document, Journal
from leaderboard.search.llm.outcomes import Outcome
from leaderboard.search.llm.votes import Record, Verifier, Vote, records_of
from surrogate.contract.request import KernelText

#: The outcome of a kernel by digest, None while it has none.
Outcomes = Callable[[str], Outcome | None]


@dataclass
class Book:
    """``used`` says per step what its reply came to: a kernel with its digest, or a fault."""

    journal: Journal
    asked: dict[str, Document] = field(default_factory=dict)
    replied: dict[str, Document] = field(default_factory=dict)
    used: dict[str, Document] = field(default_factory=dict)
    voted: dict[str, Document] = field(default_factory=dict)
    # By digest; only of searches without a database, which have their outcomes elsewhere.
    measured: dict[str, Document] = field(default_factory=dict)
    profiled: dict[str, Document] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for entry in self.journal.entries():
            self._fold(entry["kind"], entry["step"], entry)

    def add(self, kind: str, step: str, document: dict[str, Any]) -> None:
        self.journal.add(kind, step, document)
        self._fold(kind, step, document)

    def _fold(self, kind: str, step: str, document: Document) -> None:
        of_kind = {
            "asked": self.asked,
            "replied": self.replied,
            "used": self.used,
            "voted": self.voted,
            "measured": self.measured,
            "profiled": self.profiled,
        }
        if kind in of_kind:
            of_kind[kind][step] = document

    @property
    def spent(self) -> float:
        """US dollars: what replies cost, and the bound of each call that was lost with its process."""
        return sum(float(document["cost"]) for document in self.replied.values()) + sum(
            float(document["bound"]) for step, document in self.asked.items() if step not in self.replied
        )

    def kernels(self) -> dict[str, Document]:
        """What was written, by digest, oldest first: source, operator, parents, repairs so far."""
        return {item["digest"]: item for item in self.used.values() if item["fault"] == ""}

    def text(self, digest: str) -> KernelText | None:
        item = self.kernels().get(digest)
        return None if item is None else KernelText(item["language"], item["source"])

    def faults(self) -> dict[str, int]:
        """How many replies gave no kernel, by why."""
        counts: dict[str, int] = {}
        for item in self.used.values():
            if item["fault"]:
                counts[item["fault"]] = counts.get(item["fault"], 0) + 1
        return counts

    def bandit(self, outcomes: Outcomes) -> Bandit:
        bandit = Bandit()
        for step, item in self.used.items():
            if step not in self.asked or step not in self.replied:
                continue
            arm = str(self.asked[step]["arm"])
            bandit.paid(arm, float(self.replied[step]["cost"]))
            if item["fault"]:
                bandit.rewarded(arm, 0.0)
            elif (outcome := outcomes(item["digest"])) is not None:
                incumbent = float("inf") if item["incumbent"] is None else float(item["incumbent"])
                bandit.rewarded(arm, reward_of(outcome.log2_seconds, incumbent))
        return bandit

    def uses(self, outcomes: Outcomes) -> dict[str, Use]:
        """How useful examples were in this search: by the kernels written after they were shown."""
        return uses_of(self._shown(outcomes))

    def _shown(self, outcomes: Outcomes) -> Iterable[tuple[list[str], bool]]:
        for step, item in self.used.items():
            shown = list(self.asked.get(step, {}).get("examples", []))
            outcome = outcomes(item["digest"]) if not item["fault"] else None
            if shown and outcome is not None:
                yield shown, gained(outcome.log2_seconds, item["base"])

    def votes_on(self, digest: str) -> list[Vote]:
        return [_vote(item) for item in self.voted.values() if item["digest"] == digest]

    def records(self, outcomes: Outcomes) -> dict[Verifier, Record]:
        found = []
        for item in self.voted.values():
            outcome = outcomes(item["digest"])
            if outcome is not None:
                found.append((_vote(item), outcome.verdict))
        return records_of(found)

    def costs(self) -> dict[str, dict[str, float]]:
        """Calls and dollars by model and effort, those that gave nothing included."""
        found: dict[str, dict[str, float]] = {}
        for step, document in self.replied.items():
            arm = str(self.asked.get(step, {}).get("arm", ""))
            row = found.setdefault(arm, {"calls": 0, "dollars": 0.0, "tokens": 0})
            row["calls"] += 1
            row["dollars"] += float(document["cost"])
            row["tokens"] += float(document["tokens"])
        return found


def _vote(item: Document) -> Vote:
    return Vote(Verifier(item["verifier"]), bool(item["fails"]), str(item["reason"]))
