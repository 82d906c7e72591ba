"""What verifiers said of kernels that were measured later, and what their word is worth. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from runners.contract.vocabulary import Verdict

#: A verifier's word refuses a kernel only where its precision is at least this much with 95 % confidence.
LEAST_PRECISION = 0.9
_DOUBT = 0.05  # one-sided
#: Share of the vetoed that is measured all the same, so that a record is not judged by itself.
AUDITED = 0.1


class Verifier(StrEnum):
    COMPILE = "compile"
    MEMORY = "memory"
    NUMERICS = "numerics"


#: The verdicts that each of them is there to foresee.
FORESEES: dict[Verifier, tuple[Verdict, ...]] = {
    Verifier.COMPILE: (Verdict.COMPILE_ERROR,),
    Verifier.MEMORY: (Verdict.RUNTIME_ERROR, Verdict.RESOURCE_LIMIT, Verdict.TIMEOUT),
    Verifier.NUMERICS: (Verdict.WRONG,),
}


@dataclass(frozen=True)
class Vote:
    """``fails``: the kernel will fail, after one reflection on a first such word."""

    verifier: Verifier
    fails: bool
    reason: str = ""


@dataclass
class Record:
    """Counts over measured kernels. ``caught`` of the verifier's own kind of failure, ``right`` of any."""

    warned: int = 0  # said that the kernel fails
    right: int = 0  # and it did, in whatever way
    due: int = 0  # failures of the kind that it is there for
    caught: int = 0  # of those, how many it foresaw

    @property
    def precision(self) -> float | None:
        return self.right / self.warned if self.warned else None

    @property
    def recall(self) -> float | None:
        return self.caught / self.due if self.due else None

    def add(self, vote: Vote, verdict: str) -> None:
        failed = verdict != Verdict.PASSED
        mine = verdict in FORESEES[vote.verifier]
        self.warned += vote.fails
        self.right += vote.fails and failed
        self.due += mine
        self.caught += vote.fails and mine


def records_of(votes: Iterable[tuple[Vote, str]]) -> dict[Verifier, Record]:
    """From (vote, verdict) of measured kernels; kernels that failed by our fault are not to be among them."""
    found = {verifier: Record() for verifier in Verifier}
    for vote, verdict in votes:
        found[vote.verifier].add(vote, verdict)
    return found


def lower_bound(right: int, count: int) -> float:
    """Of a share, with at least 95 % confidence (Clopper and Pearson); 0 where nothing was right.

    Exact, and never too high, as approximations are for few counts. 29 of 29 is the first clean record that
    comes to 90 %.
    """
    from scipy.special import betaincinv  # here: every process of the site knows verifiers, few judge them

    return float(betaincinv(right, count - right + 1, _DOUBT)) if right else 0.0


def vetoing(votes: Iterable[Vote], records: dict[Verifier, Record]) -> Vote | None:
    """The first vote on whose word the kernel may be refused; None where no record justifies it."""
    for vote in votes:
        record = records.get(vote.verifier, Record())
        if vote.fails and lower_bound(record.right, record.warned) >= LEAST_PRECISION:
            return vote
    return None
