"""Three readers look at a kernel before a device does: its syntax, its use of memory, its numbers.

Their word is advice. One who says that a kernel fails is asked once more, with the case against that word;
what is left then is the vote. A reader who gives no answer has no vote.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.search.llm import prompts
from leaderboard.search.llm.arms import Arm
from leaderboard.search.llm.book import Book
from leaderboard.search.llm.desk import Desk, Question, Reply
from leaderboard.search.llm.journal import StepTaken
from leaderboard.search.llm.prompts import Brief
from leaderboard.search.llm.votes import Verifier
from surrogate.llm.outcome import Answer

_LONGEST_REASON = 500


@dataclass(frozen=True)
class Suspect:
    """A kernel to be read; ``step`` is the one that wrote it."""

    step: str
    digest: str
    source: str


class Verifiers:
    def __init__(self, desk: Desk, brief: Brief, arm: Arm) -> None:
        self._desk, self._brief, self._arm = desk, brief, arm

    def vote(self, book: Book, suspects: Sequence[Suspect]) -> list[Reply]:
        """Have each suspect's votes noted in ``book``; the replies, for the breaker."""
        pairs = [
            (suspect, verifier)
            for suspect in suspects
            for verifier in Verifier
            if _step(suspect, verifier) not in book.voted
        ]
        firsts = self._ask(book, [self._question(suspect, verifier) for suspect, verifier in pairs])
        reasons = [_word(reply) for reply in firsts]
        doubted = [
            (suspect, verifier, word[1])
            for (suspect, verifier), word in zip(pairs, reasons, strict=True)
            if word is not None and word[0]
        ]
        seconds = self._ask(book, [self._question(*item) for item in doubted])
        finals = {
            (suspect.step, verifier): _word(reply)
            for (suspect, verifier, _), reply in zip(doubted, seconds, strict=True)
        }
        for (suspect, verifier), word in zip(pairs, reasons, strict=True):
            # No answer to the second question leaves the doubt unheard: that is no vote either.
            final = finals.get((suspect.step, verifier)) if word is not None and word[0] else word
            if final is not None:
                book.add(
                    "voted",
                    _step(suspect, verifier),
                    {
                        "digest": suspect.digest,
                        "verifier": str(verifier),
                        "model": self._arm.name,
                        "fails": final[0],
                        "reason": final[1],
                        "first": word is not None and word[0],
                    },
                )
        return [*firsts, *seconds]

    def _ask(self, book: Book, questions: Sequence[Question]) -> list[Reply]:
        """Votes are advice: what the budget has no room for, or a dead process asked, is left unasked."""
        for item in questions:
            unanswered = item.step in book.asked and item.step not in book.replied
            if unanswered and not book.journal.is_lost(item.step):
                raise StepTaken(item.step)
        asked = [
            item
            for item in questions
            if item.step in book.replied
            or (item.step not in book.asked and self._desk.affords(item.arm, item.request))
        ]
        found = {reply.step: reply for reply in self._desk.ask(book, asked)}
        return [found.get(item.step) or Reply.none(item.step) for item in questions]

    def _question(self, suspect: Suspect, verifier: Verifier, first: str = "") -> Question:
        request = prompts.judge(self._brief, verifier, suspect.source, self._arm.effort, first=first)
        step = f"{_step(suspect, verifier)}.r" if first else _step(suspect, verifier)
        about = {"operator": "reflect" if first else "verify", "digest": suspect.digest}
        return Question(step, self._arm, request, about)


def _step(suspect: Suspect, verifier: Verifier) -> str:
    return f"{suspect.step}.{verifier}"


def _word(reply: Reply) -> tuple[bool, str] | None:
    """(fails, reason); None where the answer does not say. The schema asks for both, but a text is a text."""
    if not isinstance(reply.outcome, Answer) or reply.outcome.data is None:
        return None
    fails, reason = reply.outcome.data.get("fails"), reply.outcome.data.get("reason")
    if not isinstance(fails, bool):
        return None
    return fails, (reason if isinstance(reason, str) and reason.strip() else "no reason given")[
        :_LONGEST_REASON
    ]
