"""One step of a run: what is considered and measured next, stored all or nothing."""

from collections.abc import Mapping
from functools import partial

from django.db import transaction
from django.db.models import F

from leaderboard.search import loop
from leaderboard.search.documents import generation_document, plan_from
from leaderboard.search.gaussian_outlook import GaussianOutlook
from leaderboard.search.generators.base import (
    Generator,
    GeneratorPaused,
    GeneratorSpent,
    Operator,
    Parent,
    Proposal,
    digest_of,
)
from leaderboard.search.generators.template import Template
from leaderboard.search.grid import Settings
from leaderboard.search.llm.journal import StepTaken
from leaderboard.search.llm.pens import Pen
from leaderboard.search.llm.writers import Writer
from leaderboard.search.models import RunStatus, SearchCandidate, SearchEvent, SearchRun, StopReason
from leaderboard.search.outlook import Outlook
from leaderboard.search.plan import Policy
from leaderboard.search.recall import recall_order
from leaderboard.search.selectors.standings import standing_kept
from leaderboard.search.selectors.states import FoldedRun, histories
from leaderboard.search.selectors.templates import template_of
from leaderboard.search.services import ending, holding, profiles, runs
from leaderboard.search.services.clock import wall_seconds
from leaderboard.search.services.digests import what_changed
from leaderboard.search.services.log import add_event
from leaderboard.search.services.means import Means, means_of, room_for, under_way_today
from leaderboard.search.services.owners import is_locked
from leaderboard.search.services.profiles import Due
from leaderboard.search.sieve import Decision
from leaderboard.search.state import Generation, SearchState
from leaderboard.search.text_outlook import TextOutlook
from leaderboard.services import budgets, site_mode
from leaderboard.services.errors import Refusal
from runners.contract.vocabulary import Language, Mode
from runners.models import Evaluation, Kernel, Lane
from runners.services import evaluations, kernels
from surrogate.contract.request import KernelText

Status = SearchCandidate.Status


class _Outrun(Exception):
    """Another process changed the run in the meantime: nothing of this step may be stored."""


class Stepper:
    """Takes the steps of one run, and keeps between them what is costly to find out again."""

    def __init__(self, run: SearchRun, writer: Writer | None = None) -> None:
        """``writer`` asks language models; by default as the environment says."""
        self._run = run.pk
        self._folded = FoldedRun(run)
        self._outlook: GaussianOutlook | None = None
        self._recalled: list[Settings] = []
        self._standing = standing_kept(run)
        self._writer = writer

    def step(self) -> bool:
        """Whether something was done. Several processes may step the same run: one of them wins."""
        run = SearchRun.objects.select_related("user", "version__task", "version__spec", "device").get(
            pk=self._run
        )
        if run.status != RunStatus.RUNNING:
            return False
        if not run.user.is_active:
            return runs.pause(run=run, user=None, message="Paused: its owner's account is locked.")
        if wall_seconds(run) >= run.wall_seconds_limit:
            return ending.stop(run=run, reason=StopReason.WALL_SECONDS)
        template = template_of(run)
        if template is None or (changed := what_changed(run, template)):
            message = changed if template else "The task's template is gone."
            return ending.finish(run=run, reason=StopReason.CHANGED, message=message)
        if holding.wait_while_read_only(run):
            return False
        state = self._folded.catch_up()
        if state.in_flight:
            return self._overspent(run)
        return self._advance(run, template, state)

    def _overspent(self, run: SearchRun) -> bool:
        """Ends a run whose kernels took longer than was set aside for them. What is still queued was stopped
        with the outcome that passed the limit, unless whoever took that in was killed just then.
        """
        if run.device_seconds_spent < run.device_seconds_limit:
            return False
        return ending.stop(run=run, reason=StopReason.DEVICE_SECONDS)

    def _advance(self, run: SearchRun, template: Template | Pen, state: SearchState) -> bool:
        if run.measurements_spent + run.measurements_reserved >= run.measurements_limit:
            return ending.finish(run=run, reason=StopReason.MEASUREMENTS)
        means = means_of(run)
        if means.by_run < 1 and not means.profiling:
            return ending.finish(run=run, reason=StopReason.DEVICE_SECONDS)
        if means.by_day < 1 and not means.today:
            return _pause_for_the_day(run, means)
        if means.at_once < 1:
            return False  # what is under way gives back what it does not use
        slots = min(run.measurements_limit - run.measurements_spent, means.at_once)
        try:
            generation = self._generation(run, template, state, slots)
        except StepTaken:
            return False  # another process is asking the language model for it
        except GeneratorPaused as error:
            return runs.pause(run=run, user=None, message=f"Paused: {error}")
        except GeneratorSpent as error:
            return self._spent(run, error)
        if not generation.chosen:
            return ending.finish(run=run, reason=StopReason.EXHAUSTED)
        profile = None
        if isinstance(template, Pen):
            measuring = len(generation.chosen)
            profile = profiles.due(
                run,
                state,
                seconds=means.profile,
                left=means.left_beside(measuring),
                measuring=measuring,
                informs=partial(self._informs_a_prompt, run),
            )
        try:
            with transaction.atomic():
                self._store(run, state, generation, means.each, profile)
        except _Outrun:
            return False
        except Refusal as refusal:
            if refusal.rule == "site_read_only":
                return False  # since this step began, which may have been minutes ago: the next one waits
            if refusal.rule in ("over_budget", "site_budget_spent"):
                return False  # others were quicker: the next step knows what they left
            return runs.pause(run=run, user=None, message=f"Paused: {refusal.message}")
        return True

    def _generation(
        self, run: SearchRun, template: Template | Pen, state: SearchState, slots: int
    ) -> Generation:
        if state.generations == 0:
            source = run.version.starters.get(template.key)
            if source:
                kernel = KernelText(str(template.language), source)
                return loop.opening(Proposal(digest_of(kernel), kernel, Operator.START, cell=("starter",)))
        plan = plan_from(run.plan)
        generator: Generator
        outlook: Outlook
        if isinstance(template, Pen):
            self._writer = self._writer or Writer()
            generator, outlook = self._writer.generator(run, template), TextOutlook()
        else:
            if self._outlook is None:
                known = histories(run)
                self._outlook, self._recalled = GaussianOutlook(template.grid, known), recall_order(known)
            # Independent samples are to show what is found without knowing anything.
            recalled = [] if plan.policy == Policy.RANDOM else self._recalled
            generator, outlook = template.generator(recalled=recalled), self._outlook
        return loop.step(state, generator, outlook, plan, slots=slots, standing=self._standing)

    def _informs_a_prompt(self, run: SearchRun, parent: Parent) -> bool:
        return self._writer is not None and self._writer.pays_for_findings(run, parent)

    def _spent(self, run: SearchRun, error: GeneratorSpent) -> bool:
        """The run's own money or tokens end it; the site's, which come back tomorrow, pause it."""
        if self._writer is not None and self._writer.site_refused:
            message = f"Paused: the site's money for language models: {self._writer.site_refused}."
            return runs.pause(run=run, user=None, message=message)
        reason = StopReason.TOKENS if "tokens" in str(error) else StopReason.MONEY
        return ending.finish(run=run, reason=reason)

    def _store(
        self, run: SearchRun, state: SearchState, generation: Generation, each: float, profile: Due | None
    ) -> None:
        """Budgets first, the run's row last: it is the last in the order of locks, and decides who wins."""
        site_mode.require_open()
        spend, budget = budgets.lock(user=run.user, device=run.device)
        wanted = len(generation.chosen) + bool(profile)
        if room_for(budget.allowance - budget.spent, under_way_today(run)) < wanted:
            raise _Outrun  # another search of the owner's has begun meanwhile
        if is_locked(run):
            raise _Outrun  # the account was locked meanwhile
        seconds = each * len(generation.chosen) + (profile.seconds if profile else 0.0)
        budgets.require(budget=budget, seconds=seconds, device=run.device)
        texts = {item.proposal.digest: item.proposal.kernel for item in generation.new}
        stored = {
            digest: kernels.store_kernel(language=Language(text.language), source=text.source)
            for digest, text in texts.items()
        }
        queued: dict[str, Evaluation] = {}
        for digest in generation.chosen:
            kernel = stored[digest] if digest in stored else self._stored_kernel(run, digest)
            queued[digest] = evaluations.enqueue(
                kernel=kernel,
                spec=run.version.spec,
                device=run.device,
                mode=Mode.BENCHMARK,
                lane=Lane.SEARCH,
            )
            budgets.reserve(spend=spend, evaluation=queued[digest], seconds=each)
        won = SearchRun.objects.filter(pk=run.pk, status=RunStatus.RUNNING, seq=run.seq).update(
            generations=generation.number + 1,
            considered=F("considered") + len(generation.new),
            measurements_reserved=F("measurements_reserved") + len(queued),
            device_seconds_reserved=F("device_seconds_reserved")
            + each * len(queued)
            + (profile.seconds if profile else 0.0),
        )
        if not won or self._folded.seq != run.seq:
            raise _Outrun
        if profile is not None:  # behind what is measured: it may run while the model thinks
            beside = profiles.enqueue(run=run, wanted=profile)
            budgets.reserve(spend=spend, evaluation=beside, seconds=profile.seconds)  # whose rows are locked
        event = add_event(run=run, kind=SearchEvent.Kind.GENERATION, document=generation_document(generation))
        _store_candidates(run, len(state.candidates), generation, stored, queued, each, event.seq)

    def _stored_kernel(self, run: SearchRun, digest: str) -> Kernel:
        return run.candidates.select_related("kernel").get(digest=digest).kernel


def _pause_for_the_day(run: SearchRun, means: Means) -> bool:
    """Until the day's seconds refill; for good where a whole day's do not pay for a measurement."""
    message, at = "Paused: the day's device seconds are used up.", means.refills_at
    if means.day_whole < means.each:
        return runs.pause(run=run, user=None, message=message)
    message += f" It goes on by itself at {at:%H:%M} UTC."
    return runs.pause(run=run, user=None, message=message, until=at)


def _store_candidates(
    run: SearchRun,
    first: int,
    generation: Generation,
    stored: Mapping[str, Kernel],
    queued: Mapping[str, Evaluation],
    each: float,
    seq: int,
) -> None:
    rows = []
    for place, item in enumerate(generation.new):
        digest = item.proposal.digest
        row = SearchCandidate(
            run=run,
            number=first + place,
            digest=digest,
            kernel=stored[digest],
            parameters=dict(item.proposal.kernel.parameters),
            operator=item.proposal.operator,
            parents=list(item.proposal.parents),
            generation=item.generation,
            island=item.island,
        )
        _decide(row, item.decision, queued.get(digest), each, seq)
        rows.append(row)
    SearchCandidate.objects.bulk_create(rows)
    changed = list(run.candidates.filter(digest__in=generation.changed))
    for row in changed:
        _decide(row, generation.changed[row.digest], queued.get(row.digest), each, seq)
    fields = [
        "action", "reason", "forecast_seconds", "forecast_spread", "p_better", "status", "evaluation",
        "reserved_seconds", "seq",
    ]  # fmt: skip
    SearchCandidate.objects.bulk_update(changed, fields)


def _decide(
    row: SearchCandidate, decision: Decision, evaluation: Evaluation | None, each: float, seq: int
) -> None:
    row.action, row.reason = decision.action, decision.reason[:300]
    row.forecast_seconds = None if decision.mean is None else float(2**decision.mean)
    row.forecast_spread, row.p_better = decision.spread, decision.p_better
    row.status = Status.MEASURING if evaluation else Status.WAITING
    row.evaluation, row.reserved_seconds = evaluation, each if evaluation else 0.0
    row.seq = seq
