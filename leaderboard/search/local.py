"""A search on this machine with the engine itself: no web, broker or database."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from leaderboard.catalog.loader import CatalogTask
from leaderboard.search import loop
from leaderboard.search.gaussian_outlook import GaussianOutlook
from leaderboard.search.generators.base import (
    Generator,
    GeneratorPaused,
    GeneratorSpent,
    Operator,
    Proposal,
    digest_of,
    is_starter,
)
from leaderboard.search.generators.template import Template
from leaderboard.search.outlook import Outlook
from leaderboard.search.plan import Plan
from leaderboard.search.standing import unguaranteed
from leaderboard.search.state import Candidate, SearchState
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import Language, Verdict
from surrogate.contract.request import KernelText

#: Runs one kernel; raises for what is no fault of the kernel's.
Measure = Callable[[KernelText], ResultDocument]

#: Of evaluations that say nothing about the kernel: neither measurements nor outcomes.
NOT_THE_KERNELS = (Verdict.INTERNAL_ERROR, Verdict.CANCELLED)
#: Evaluations that may fail one after the other by our own fault before the search gives up.
_MOST_FAULTS = 3


class SearchStopped(RuntimeError):
    """The search cannot go on; the message says why. What was measured is in the report."""


@dataclass
class Written:
    """Kernels that come from no template: ``key`` names the starter to compare with."""

    key: str
    language: Language
    generator: Generator
    outlook: Outlook | None = None


@dataclass
class LocalSearch:
    """``rows`` has one entry per measurement, in order."""

    task: CatalogTask
    template: Template | Written
    plan: Plan
    measure: Measure
    on_row: Callable[[dict[str, Any]], None] = lambda _: None
    rows: list[dict[str, Any]] = field(default_factory=list)
    #: Result documents by digest; a generator that learns from failures reads them.
    outcomes: dict[str, ResultDocument] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = SearchState(self.plan.islands, self.plan.migrate_every)
        self._outlook: Outlook | None
        self._generator: Generator
        if isinstance(self.template, Template):
            self._outlook = GaussianOutlook(self.template.grid)
            self._generator = self.template.generator()
        else:
            self._outlook, self._generator = self.template.outlook, self.template.generator
        self.stop_reason = ""
        self._faults = 0  # since the last outcome

    def run(self, measurements: int, device_seconds: float = math.inf) -> None:
        """Measure the starter, then search until as many kernels were measured, the starter among them.

        No evaluation is begun once ``device_seconds`` were used. Raises SearchStopped when the engine fails
        again and again.
        """
        generation = loop.opening(self._starter())
        while True:
            self.state.consider(generation)
            for digest in generation.chosen:
                if sum(row["device_seconds"] for row in self.rows) >= device_seconds:
                    self.stop_reason = "The device seconds are used up."
                    return
                self._measure(self.state.candidates[digest])
            left = measurements - len(self.state.outcomes)
            if left <= 0:
                self.stop_reason = "The measurements are used up."
                return
            try:
                generation = loop.step(self.state, self._generator, self._outlook, self.plan, slots=left)
            except GeneratorSpent as error:
                self.stop_reason = str(error)
                return
            except GeneratorPaused as error:
                raise SearchStopped(str(error)) from error
            if not generation.chosen:
                self.stop_reason = "The generator has nothing new to propose."
                return

    def _starter(self) -> Proposal:
        kernel = KernelText(str(self.template.language), self.task.starters[self.template.key])
        return Proposal(digest_of(kernel), kernel, Operator.START, cell=("starter",))

    def _measure(self, candidate: Candidate) -> None:
        digest, kernel = candidate.proposal.digest, candidate.proposal.kernel
        document = self.measure(kernel)
        if document["verdict"] in NOT_THE_KERNELS:
            self.state.drop(digest, lost=document["verdict"] == Verdict.INTERNAL_ERROR)
            self._faults += 1
            if self._faults >= _MOST_FAULTS:
                raise SearchStopped(f"The engine failed {_MOST_FAULTS} times: {document['reason']}")
            return
        self._faults = 0
        self.outcomes[digest] = document
        score = document["score"] if document["verdict"] == Verdict.PASSED else None
        self.state.measure(digest, None if score is None else math.log2(score["seconds"]))
        decision = candidate.decision
        self.rows.append(
            {
                "measurement": len(self.rows) + 1,
                "operator": str(candidate.proposal.operator),
                "action": str(decision.action),
                "parameters": dict(kernel.parameters),
                "verdict": document["verdict"],
                "reason": document["reason"][:200],
                "seconds": None if score is None else score["seconds"],
                "ci_low": None if score is None else score["ci_low"],
                "ci_high": None if score is None else score["ci_high"],
                "forecast_seconds": None if decision.mean is None else 2**decision.mean,
                "device_seconds": document["device_seconds"],
                "best_seconds": None if self.state.best is None else 2 ** self.state.best[1],
            }
        )
        self.on_row(self.rows[-1])

    def report(self) -> dict[str, Any]:
        best = self.state.best
        opening = (row for row in self.rows if is_starter(row["operator"], row["parameters"]))
        starter = next((row["seconds"] for row in opening), None)
        found = None if best is None else self.state.candidates[best[0]].proposal.kernel
        seconds = None if best is None else 2 ** best[1]
        return {
            "task": self.task.slug,
            "language": self.template.key,
            "policy": str(self.plan.policy),
            "seed": self.plan.seed,
            "stop_reason": self.stop_reason,
            "guarantee": unguaranteed(self.plan.rules).promise if self.plan.policy.may_promise else "",
            "measured": len(self.rows),
            "considered": len(self.state.candidates),
            "starter_seconds": starter,
            "best_seconds": seconds,
            "speed_up": starter / seconds if starter and seconds else None,
            "best_parameters": None if found is None else dict(found.parameters),
            "best_source": None if found is None else found.source,
            "device_seconds": sum(row["device_seconds"] for row in self.rows),
            "measurements": self.rows,
        }
