"""The generator ``llm``: a language model's kernels, from a first correct one to variations of the best.

Every call has a step, named by its place in the search. A search that is resumed comes by the same steps,
finds their replies in the journal and pays for none of them again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from leaderboard.search.generators.base import Ask, GeneratorPaused, GeneratorSpent, Proposal
from leaderboard.search.llm import condensing, prompts
from leaderboard.search.llm.affording import pays_for_findings
from leaderboard.search.llm.arms import Arm, cheapest
from leaderboard.search.llm.book import Book, Outcomes
from leaderboard.search.llm.breaker import Breaker
from leaderboard.search.llm.briefs import FORM_STEP, form_of
from leaderboard.search.llm.desk import Desk, Question, Reply
from leaderboard.search.llm.examples import Example, Use
from leaderboard.search.llm.journal import Journal, StepTaken
from leaderboard.search.llm.prompts import Brief
from leaderboard.search.llm.sitting import Sitting
from leaderboard.search.llm.votes import Record, Verifier
from surrogate.llm.outcome import Answer


@dataclass
class LlmGenerator:
    """``outcomes`` tells what measuring came to; ``verify`` is whom the verifiers are, None for none.

    ``independent``: every kernel is asked for as if it were the first, for the control of that name.
    """

    brief: Brief
    arms: Sequence[Arm]
    desk: Desk
    journal: Journal
    outcomes: Outcomes
    seed: int = 0
    library: Sequence[Example] = ()
    verify: Arm | None = None
    independent: bool = False
    #: What verifiers' words were worth so far; this search's own record where nobody keeps one.
    records: Callable[[], dict[Verifier, Record]] | None = None
    #: What examples were worth so far; in this search alone where nobody keeps count.
    uses: Callable[[], dict[str, Use]] | None = None
    #: Those of the library that may be shown at this moment; all of it where nobody can withdraw any.
    shown: Callable[[Sequence[Example]], Sequence[Example]] = lambda items: items
    #: What a profiler said of a kernel, by digest (condensing.readable); empty while nobody has looked.
    profiles: Callable[[str], str] = lambda _: ""
    name: str = "llm"
    breaker: Breaker = field(default_factory=Breaker)

    def propose(self, ask: Ask, random: Random) -> list[Proposal]:
        """Raises GeneratorPaused and GeneratorSpent, and StepTaken where another process works on it.

        Draws come from the steps' names and not from ``random``: a resumed step must come to the same.
        """
        book = Book(self.journal)
        brief = self._briefed(book)
        return Sitting(self, book, brief, ask, self._findings(book, brief, ask)).propose()

    def records_in(self, book: Book) -> dict[Verifier, Record]:
        return self.records() if self.records else book.records(self.outcomes)

    def uses_in(self, book: Book) -> dict[str, Use]:
        return self.uses() if self.uses else book.uses(self.outcomes)

    def hear(self, heard: Sequence[Reply]) -> str:
        """Why to pause, empty while there is no reason. Replies from the journal say nothing of today."""
        why = ""
        for reply in heard:
            if reply.is_new:
                why = self.breaker.heard(None if isinstance(reply.outcome, Answer) else reply.outcome) or why
        return why

    def _briefed(self, book: Book) -> Brief:
        """The first stage: the reference in functional form, by the first model that the money pays for.

        Asked once; it is no loss if nothing comes.
        """
        if FORM_STEP not in book.asked:
            asked = ((arm, prompts.functionalise(self.brief, arm.effort)) for arm in self.arms)
            arm, request = next((pair for pair in asked if self.desk.affords(*pair)), (None, None))
            if arm is None or request is None:
                raise GeneratorSpent("The money does not pay for a first call.")
            about = {"operator": "functionalise"}
            if why := self.hear(self.desk.ask(book, [Question(FORM_STEP, arm, request, about)])):
                raise GeneratorPaused(why)
        elif FORM_STEP not in book.replied and not self.journal.is_lost(FORM_STEP):
            raise StepTaken(FORM_STEP)
        form = form_of(book.replied.get(FORM_STEP, {}).get("data"))
        return replace(self.brief, form=form) if form else self.brief

    def _findings(self, book: Book, brief: Brief, ask: Ask) -> dict[str, str]:
        """What the parents' profiles came to, by digest. The best one's is condensed now if it is there.

        By the cheapest model: it reads numbers, it writes no kernel. Nothing is lost where nothing comes, and
        nothing is found out that no prompt can be paid for any more.
        """
        for parent in [] if self.independent else ask.parents[:1]:
            step = condensing.step_of(parent.digest)
            if step in book.asked:
                if step not in book.replied and not self.journal.is_lost(step):
                    raise StepTaken(step)
                continue
            if not pays_for_findings(brief, self.arms, parent, self.desk.left):
                continue
            profile, arm = self.profiles(parent.digest), cheapest(self.arms)
            request = condensing.condense(brief, parent.kernel.source, profile, arm.effort)
            if not profile or not self.desk.affords(arm, request):
                continue
            about = {"operator": "condense", "digest": parent.digest}
            if why := self.hear(self.desk.ask(book, [Question(step, arm, request, about)])):
                raise GeneratorPaused(why)
        replies = ((item.digest, book.replied.get(condensing.step_of(item.digest))) for item in ask.parents)
        found = {digest: condensing.findings_of(reply.get("data")) for digest, reply in replies if reply}
        return {digest: text for digest, text in found.items() if text}
