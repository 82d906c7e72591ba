"""Generations as plain JSON, for the event log, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from leaderboard.search.generators.base import Operator, Proposal
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.sieve import Decision
from leaderboard.search.state import Candidate, Generation, SearchState
from surrogate.contract.request import KernelText
from surrogate.policy import Action, Rules


def plan_document(plan: Plan) -> dict[str, Any]:
    return {**asdict(plan), "policy": str(plan.policy)}


def plan_from(document: Mapping[str, Any]) -> Plan:
    rules = Rules(**document["rules"])
    return Plan(**{**document, "policy": Policy(document["policy"]), "rules": rules})


def generation_document(generation: Generation) -> dict[str, Any]:
    """Sources are left out: they are stored once, as kernels."""
    return {
        "number": generation.number,
        "new": [_candidate_document(item) for item in generation.new],
        "changed": {digest: _decision_document(item) for digest, item in generation.changed.items()},
    }


def generation_from(document: Mapping[str, Any], kernels: Mapping[str, KernelText]) -> Generation:
    """``kernels`` holds the text of every new candidate, by digest."""
    return Generation(
        document["number"],
        tuple(_candidate_from(item, kernels[item["digest"]]) for item in document["new"]),
        {digest: _decision_from(item) for digest, item in document["changed"].items()},
    )


def apply_event(
    state: SearchState, kind: str, document: Mapping[str, Any], kernels: Mapping[str, KernelText]
) -> None:
    """Fold one event into the state; kinds that do not change it are passed over."""
    if kind == "generation":
        state.consider(generation_from(document, kernels))
    elif kind == "measured":
        state.measure(document["digest"], document["log2_seconds"])
    elif kind == "dropped":
        # Events of before this was told are as if a person had stopped it: nothing is measured again.
        state.drop(document["digest"], lost=document.get("lost", False))


def _candidate_document(candidate: Candidate) -> dict[str, Any]:
    proposal = candidate.proposal
    return {
        "digest": proposal.digest,
        "operator": str(proposal.operator),
        "parents": list(proposal.parents),
        "cell": list(proposal.cell),
        "island": candidate.island,
        "audited": candidate.audited,
        "decision": _decision_document(candidate.decision),
        "generation": candidate.generation,
    }


def _candidate_from(item: Mapping[str, Any], kernel: KernelText) -> Candidate:
    proposal = Proposal(
        item["digest"], kernel, Operator(item["operator"]), tuple(item["parents"]), tuple(item["cell"])
    )
    decision = _decision_from(item["decision"])
    return Candidate(proposal, item["island"], item["generation"], item["audited"], decision)


def _decision_document(decision: Decision) -> dict[str, Any]:
    return {**asdict(decision), "action": str(decision.action)}


def _decision_from(item: Mapping[str, Any]) -> Decision:
    return Decision(**{**item, "action": Action(item["action"])})
