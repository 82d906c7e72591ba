"""One generation's share of kernels: asked for, read, verified, and asked for again where none came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from leaderboard.search.generators.base import (
    Ask,
    GeneratorPaused,
    GeneratorSpent,
    Operator,
    Proposal,
    digest_of,
)
from leaderboard.search.llm import examples, moves, prompts, replies
from leaderboard.search.llm.book import Book
from leaderboard.search.llm.breaker import is_passing
from leaderboard.search.llm.cells import cell_of
from leaderboard.search.llm.desk import Question, Reply, stored
from leaderboard.search.llm.embedding import cosines
from leaderboard.search.llm.journal import Document, StepTaken
from leaderboard.search.llm.moves import Move
from leaderboard.search.llm.novelty import SAME, repeats
from leaderboard.search.llm.outcomes import Outcome
from leaderboard.search.llm.prompts import Brief
from leaderboard.search.llm.replies import Fault, Unusable, Written
from leaderboard.search.llm.slot import MOST_FAULTS, Slot
from leaderboard.search.llm.verifiers import Suspect, Verifiers
from leaderboard.search.llm.votes import AUDITED, vetoing
from surrogate.contract.request import KernelText
from surrogate.llm.outcome import Failure, FailureKind

if TYPE_CHECKING:
    from leaderboard.search.llm.generator import LlmGenerator


class Sitting:
    def __init__(
        self, generator: LlmGenerator, book: Book, brief: Brief, ask: Ask, findings: Mapping[str, str]
    ) -> None:
        self._of, self._book, self._brief, self._ask, self._findings = generator, book, brief, ask, findings
        self._verifiers = Verifiers(generator.desk, brief, generator.verify) if generator.verify else None
        self._slots = [Slot(f"{ask.step}.s{place}") for place in range(ask.count)]
        self._found: dict[str, Proposal] = {}
        self._parents = {parent.digest: parent for parent in ask.parents}
        self._why_pause = self._why_spent = ""
        self._has_asked = False

    def propose(self) -> list[Proposal]:
        """Raises GeneratorPaused and GeneratorSpent only where there is nothing to show for the money."""
        self._sit()
        if not self._found and not self._stopped and not self._has_asked:
            # All of it was in the journal: somebody resumes what had paused for it, and wants more tries.
            for slot in self._slots:
                slot.done, slot.faults = False, 0
            self._sit()
        if self._found:
            return list(self._found.values())
        if self._why_pause:
            raise GeneratorPaused(self._why_pause)
        if self._why_spent:
            raise GeneratorSpent(self._why_spent)
        if not self._slots:
            return []
        last = next(slot.last for slot in reversed(self._slots) if slot.last is not None)
        count = sum(slot.faults for slot in self._slots)
        raise GeneratorPaused(f"None of {count} answers gave a new kernel. The last one: {last.message}")

    def _sit(self) -> None:
        """Until every slot has a kernel or its share of faults, or there is a reason to stop."""
        while (waiting := [slot for slot in self._slots if not slot.done]) and not self._stopped:
            asked, answered = self._next(waiting)
            self._has_asked = self._has_asked or bool(asked)
            answered += self._of.desk.ask(self._book, asked)
            self._take(waiting, {reply.step: reply for reply in answered})

    @property
    def _stopped(self) -> bool:
        return bool(self._why_pause or self._why_spent)

    # What to ask

    def _next(self, waiting: Sequence[Slot]) -> tuple[list[Question], list[Reply]]:
        """Each slot's next question, or its reply where the journal has one."""
        book, questions, answered = self._book, list[Question](), list[Reply]()
        written = book.kernels()
        outcomes = {digest: found for digest in written if (found := self._of.outcomes(digest))}
        for slot in waiting:
            slot.step = self._free_step(slot)
            if (reply := stored(book, slot.step)) is not None:
                slot.move = self._move_of(book.asked[slot.step])
                answered.append(reply)
                continue
            random = Random(f"{self._of.seed}:{slot.step}")  # noqa: S311  repeatable, not secret
            slot.move = self._move(slot, written, outcomes, random)
            question = self._question(slot, slot.move, outcomes, random)
            if question is None:
                self._why_spent = "What is left of the money does not pay for another call."
                break
            questions.append(question)
        return questions, answered

    def _free_step(self, slot: Slot) -> str:
        """The slot's next step; what a dead process had asked, and nobody answered, is passed over."""
        while True:
            step = f"{slot.name}.t{slot.tries}"
            slot.tries += 1
            if step not in self._book.asked or step in self._book.replied:
                return step
            if not self._of.journal.is_lost(step):
                raise StepTaken(step)

    def _move_of(self, asked: Document) -> Move:
        """As it was chosen when the step was asked; parents that the island has dropped are left out."""
        parents = [self._parents[digest] for digest in asked["parents"] if digest in self._parents]
        return Move(Operator(asked["operator"]), tuple(parents), str(asked["repairs_of"]))

    def _move(
        self,
        slot: Slot,
        written: Mapping[str, Document],
        outcomes: Mapping[str, Outcome],
        random: Random,
    ) -> Move:
        if slot.last is not None and slot.last.fault == Fault.REJECTED:
            return Move(Operator.REPAIR)  # of a source that never got as far as a device
        taken = [item.move.repairs for item in self._slots if item.move is not None]
        return moves.choose(
            written, outcomes, self._ask.parents, random, independent=self._of.independent, taken=taken
        )

    def _question(
        self, slot: Slot, move: Move, outcomes: Mapping[str, Outcome], random: Random
    ) -> Question | None:
        """None where no model's call fits what is left."""
        shown = self._examples(move)
        failed = None
        if move.repairs:
            failed = (str(self._book.kernels()[move.repairs]["source"]), outcomes[move.repairs].error)
        elif move.operator == Operator.REPAIR and slot.last is not None:
            failed = (slot.last.source, slot.last.message)
        request = prompts.write(
            self._brief,
            move.operator,
            [(parent, self._of.outcomes(parent.digest)) for parent in move.parents],
            shown,
            None,
            failed=failed,
            avoid=[self._parents[digest].kernel.source for digest in move.avoid],
            findings=self._findings,
        )
        requests = {
            arm.name: replace(request, effort=arm.effort, max_tokens=prompts.MOST_WRITTEN[arm.effort])
            for arm in self._of.arms
        }
        fitting = {arm.name: arm for arm in self._of.arms if self._of.desk.affords(arm, requests[arm.name])}
        if not fitting:
            return None
        willing = {name: arm for name, arm in fitting.items() if name not in slot.refused}
        fitting = willing or fitting
        bandit = self._book.bandit(self._of.outcomes)
        arm = fitting[bandit.choose({name: arm.expected_cost for name, arm in fitting.items()}, random)]
        about = {
            "operator": str(move.operator),
            "parents": [parent.digest for parent in move.parents],
            "repairs_of": move.repairs,
            "examples": [item.key for item in shown],
            "prompt": request.user[0].text,
        }
        return Question(slot.step, arm, requests[arm.name], about)

    def _examples(self, move: Move) -> list[examples.Example]:
        if self._of.independent or move.operator == Operator.REPAIR:
            return []
        near = move.parents[0].kernel if move.parents else None
        uses = self._of.uses_in(self._book)
        reference, language = self._brief.spec.reference, str(self._brief.language)
        return examples.retrieve(reference, language, near, self._of.shown(self._of.library), uses)

    # What came of it

    def _take(self, waiting: Sequence[Slot], answered: Mapping[str, Reply]) -> None:
        """Read the answers, have new kernels looked at, and keep what passes."""
        heard = [answered[slot.step] for slot in waiting if slot.step in answered]
        self._why_pause = self._of.hear(heard)
        kernels: list[tuple[Slot, KernelText, str, str]] = []
        for slot in waiting:
            if slot.step not in answered:
                continue
            read = self._read(slot, answered[slot.step])
            if isinstance(read, Unusable):
                self._fault(slot, read, answered[slot.step])
                continue
            kernel = KernelText(str(self._brief.language), read.source)
            digest = digest_of(kernel)
            taken = {item[2] for item in kernels} | self._found.keys() | self._ask.known
            if digest in taken:
                self._fault(slot, Unusable(Fault.KNOWN, "The kernel is known already."))
            elif sentence := self._repeats(slot, kernel, [item[1] for item in kernels]):
                self._fault(slot, Unusable(Fault.ALIKE, sentence))
            else:
                kernels.append((slot, kernel, digest, read.idea))
        if self._verifiers and kernels and not self._why_pause:
            suspects = [Suspect(slot.step, digest, kernel.source) for slot, kernel, digest, _ in kernels]
            self._why_pause = self._of.hear(self._verifiers.vote(self._book, suspects)) or self._why_pause
        for slot, kernel, digest, idea in kernels:
            self._keep(slot, kernel, digest, idea)

    def _read(self, slot: Slot, reply: Reply) -> Written | Unusable:
        if isinstance(reply.outcome, Failure):
            if reply.is_new and reply.outcome.kind == FailureKind.OVER_BUDGET:
                self._why_spent = f"{reply.outcome.message}."[:1].upper() + f"{reply.outcome.message}."[1:]
            return replies.read_failure(reply.outcome)
        language, spec = self._brief.language, self._brief.spec
        if slot.move is None or slot.move.operator not in prompts.EDITING:
            return replies.read_rewrite(reply.outcome, language, spec)
        if not slot.move.parents:
            return Unusable(Fault.BAD_EDIT, "The kernel that was to be edited is no parent any more.")
        return replies.read_edit(reply.outcome, slot.move.parents[0].kernel.source, language, spec)

    def _repeats(self, slot: Slot, kernel: KernelText, beside: Sequence[KernelText]) -> str:
        """Why the kernel is no new one, empty where it is. ``beside`` came in the same answers.

        Kernels that failed may be repeated: what is nearly like them may be what they should have been.
        """
        if (before := self._book.used.get(slot.step)) is not None:
            return str(before["message"]) if before["fault"] == Fault.ALIKE else ""
        if slot.move is None or self._of.independent:
            return ""
        found = [parent.kernel for parent in self._ask.parents]
        found += [proposal.kernel for proposal in self._found.values()] + list(beside)
        for digest, item in self._book.kernels().items():
            outcome = self._of.outcomes(digest)
            if outcome is None or outcome.worked:
                found.append(KernelText(item["language"], item["source"]))
        if (place := repeats(slot.move.operator, kernel, found)) is None:
            return ""
        alike = float(cosines(kernel, [found[place]])[0])
        return (
            f"The kernel repeats another one, being {alike:.3f} like it; from {SAME} on that is no new one."
        )

    def _fault(self, slot: Slot, unusable: Unusable, reply: Reply | None = None) -> None:
        slot.last = unusable
        if unusable.fault == Fault.REFUSED:
            slot.refused.add(str(self._book.asked[slot.step]["arm"]))
        failure = reply.outcome if reply is not None and isinstance(reply.outcome, Failure) else None
        if failure is None or not (is_passing(failure.kind) or failure.kind == FailureKind.OVER_BUDGET):
            slot.faults += 1
            slot.done = slot.faults >= MOST_FAULTS
        self._use(
            slot, {"fault": str(unusable.fault), "message": unusable.message, "source": unusable.source}
        )

    def _keep(self, slot: Slot, kernel: KernelText, digest: str, idea: str) -> None:
        veto = vetoing(self._book.votes_on(digest), self._of.records_in(self._book))
        audit = Random(f"{self._of.seed}:{slot.step}:veto").random() < AUDITED  # noqa: S311
        before = self._book.used.get(slot.step)
        vetoed = bool(before["fault"]) if before is not None else veto is not None and not audit
        if vetoed:
            reason = (
                f"The {veto.verifier} verifier, whose record is good: {veto.reason}" if veto else "Vetoed."
            )
            self._fault(slot, Unusable(Fault.VETOED, reason, kernel.source))
            return
        move = slot.move or Move(Operator.TRANSLATE)
        depth = int(self._book.kernels()[move.repairs]["repairs"]) + 1 if move.repairs else 0
        base = move.parents[0] if move.parents else next(iter(self._ask.parents), None)
        best = min((parent.log2_seconds for parent in self._ask.parents), default=None)
        self._use(
            slot,
            {
                "fault": "",
                "digest": digest,
                "language": kernel.language,
                "source": kernel.source,
                "idea": idea,
                "operator": str(move.operator),
                "repairs": depth,
                "repairs_of": move.repairs,
                "base": None if base is None else base.log2_seconds,
                "incumbent": best,
            },
        )
        parents = (move.repairs,) if move.repairs else tuple(parent.digest for parent in move.parents)
        self._found[digest] = Proposal(digest, kernel, move.operator, parents, cell_of(kernel))
        slot.done = True

    def _use(self, slot: Slot, document: dict[str, Any]) -> None:
        """Once per step: a resumed search comes by again, and must not count twice."""
        if slot.step not in self._book.used:
            self._book.add("used", slot.step, document)
