"""Profile-mode runs of the kernels that a language model builds on: their device seconds are the run's.

They are no measurements: nothing waits for them, no time of theirs is compared with another, and a run that
has no seconds for one goes on without it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from leaderboard.search.generators.base import Parent
from leaderboard.search.llm.models import ParentProfile
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.plan import Policy
from leaderboard.search.services import ending
from leaderboard.search.services.log import add_event, lock
from leaderboard.search.state import SearchState
from runners.contract.vocabulary import Mode
from runners.models import Evaluation, Lane
from runners.services import evaluations


@dataclass(frozen=True)
class Due:
    """The best kernel so far, which no profiler has looked at; ``seconds`` are to be set aside for it."""

    candidate: SearchCandidate
    seconds: float


def due(
    run: SearchRun,
    state: SearchState,
    *,
    seconds: float,
    left: float,
    measuring: int,
    informs: Callable[[Parent], bool],
) -> Due | None:
    """What to profile beside a generation of ``measuring`` kernels; ``left`` device seconds are unpromised.
    ``informs`` tells whether what a profiler says of a kernel can still come into a prompt.

    None once nothing would be written after it, for want of measurements or of money, and for independent
    samples, which build on nothing.
    """
    if state.best is None or seconds > left or run.plan["policy"] == Policy.RANDOM:
        return None
    if run.measurements_spent + measuring >= run.measurements_limit:
        return None
    digest, log2_seconds = state.best
    if run.profiles.filter(digest=digest).exists():
        return None
    if not informs(Parent(digest, state.candidates[digest].proposal.kernel, log2_seconds)):
        return None
    return Due(run.candidates.select_related("kernel").get(digest=digest), seconds)


def under_way(run: SearchRun) -> int:
    return int(run.profiles.filter(is_settled=False).count())


def enqueue(*, run: SearchRun, wanted: Due) -> Evaluation:
    """Queue it; the caller, in whose transaction this is, reserves ``wanted.seconds``."""
    evaluation = evaluations.enqueue(
        kernel=wanted.candidate.kernel,
        spec=run.version.spec,
        device=run.device,
        mode=Mode.PROFILE,
        lane=Lane.SEARCH,
    )
    ParentProfile.objects.create(
        run=run,
        digest=wanted.candidate.digest,
        evaluation=evaluation,
        reserved_seconds=wanted.seconds,
    )
    return evaluation


@transaction.atomic
def record(*, evaluation: Evaluation) -> None:
    """Settle a profile that has ended, in the transaction that stores its result, once."""
    profile = ParentProfile.objects.filter(evaluation_id=evaluation.pk, is_settled=False).first()
    if profile is None:
        return
    run = lock(profile.run_id)
    if not ParentProfile.objects.filter(pk=profile.pk, is_settled=False).update(is_settled=True):
        return
    SearchRun.objects.filter(pk=run.pk).update(
        # Floating sums drift by rounding: never below nothing.
        device_seconds_reserved=Greatest(F("device_seconds_reserved") - profile.reserved_seconds, 0.0),
        device_seconds_spent=F("device_seconds_spent") + max(0.0, evaluation.device_seconds),
    )
    document = {
        "digest": profile.digest,
        "verdict": evaluation.verdict,
        "device_seconds": evaluation.device_seconds,
    }
    add_event(run=run, kind=SearchEvent.Kind.PROFILED, document=document)
    transaction.on_commit(partial(ending.stop_if_overspent, run_id=run.pk), robust=True)
