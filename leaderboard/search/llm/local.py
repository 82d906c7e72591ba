"""A search by a language model on this machine: no web, broker or database."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from leaderboard.catalog.loader import CatalogTask, load_all
from leaderboard.search.documents import plan_document
from leaderboard.search.generators.base import digest_of
from leaderboard.search.llm import prompts
from leaderboard.search.llm.affording import Left
from leaderboard.search.llm.arms import Arm
from leaderboard.search.llm.book import Book
from leaderboard.search.llm.condensing import readable
from leaderboard.search.llm.desk import Desk
from leaderboard.search.llm.examples import Example
from leaderboard.search.llm.generator import LlmGenerator
from leaderboard.search.llm.journal import Journal
from leaderboard.search.llm.outcomes import Outcome, read_outcome
from leaderboard.search.llm.prompts import Brief
from leaderboard.search.local import NOT_THE_KERNELS, LocalSearch, Measure, Written
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.text_outlook import TextOutlook
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import LANGUAGES_OF, DeviceKind, Language, Mode, Verdict
from runners.devices import DetectedDevice
from surrogate.contract.request import DeviceFacts, KernelText
from surrogate.llm.clock import Clock
from surrogate.llm.config import Config
from surrogate.llm.ledger import MemoryLedger

#: What is kept of a result document: enough to go on from, without samples and listings.
_KEPT = ("verdict", "reason", "failed_stage", "score", "device_seconds", "tests", "output")
_KEPT_OF_TIMING = ("case", "description", "status", "message", "seconds", "floor_seconds", "outputs")


def identity_of(
    task: CatalogTask,
    language: Language,
    device: DetectedDevice,
    mode: Mode,
    plan: Plan,
    arms: Sequence[Arm],
    verify: Arm | None,
) -> dict[str, Any]:
    """What a journal is of: all that its steps and times depend on. Limits are not, as they may be raised."""
    return {
        "task": task.slug,
        "spec": task.spec.digest,
        "language": str(language),
        "device": device.slug,
        "mode": str(mode),
        "prompts": prompts.VERSION,
        "models": " ".join(arm.name for arm in arms),
        "verifiers": verify.name if verify else "none",
        **plan_document(plan),
    }


class LocalPurse:
    """Money and tokens of one process; ``spent`` is what an earlier sitting used."""

    def __init__(self, money: Decimal, tokens: int | None, spent: Decimal, tokens_spent: int) -> None:
        self.ledger = MemoryLedger(max(Decimal(0), money - spent))
        self._tokens = None if tokens is None else tokens - tokens_spent
        self._lock = threading.Lock()

    def left(self) -> Left:
        limit = self.ledger.limit or Decimal(0)
        with self._lock:
            return Left(limit - self.ledger.spent - self.ledger.reserved, self._tokens)

    def reserve_tokens(self, count: int) -> bool:
        with self._lock:
            if self._tokens is None:
                return True
            if self._tokens < count:
                return False
            self._tokens -= count
            return True

    def settle_tokens(self, reserved: int, spent: int) -> None:
        with self._lock:
            if self._tokens is not None:
                self._tokens += reserved - spent


@dataclass(frozen=True)
class Spending:
    """``money`` is US dollars; ``tokens`` None sets no limit of its own."""

    money: Decimal
    tokens: int | None = None


class LlmSearch:
    """``search`` is the local search, ``report`` its report with what the language model did and cost."""

    def __init__(
        self,
        task: CatalogTask,
        language: Language,
        device: DetectedDevice,
        ceilings: Mapping[str, Any],
        plan: Plan,
        measure: Measure,
        *,
        arms: Sequence[Arm],
        spending: Spending,
        config: Config,
        journal: Journal,
        verify: Arm | None = None,
        library: Sequence[Example] = (),
        clock: Clock | None = None,
        profile: Measure | None = None,
    ) -> None:
        """``profile`` runs a kernel in profile mode; None where nobody is to look at the best ones."""
        self._journal, self._measure, self._profile = journal, measure, profile
        self._book = Book(journal)
        used = sum(int(document["tokens"]) for document in self._book.replied.values())
        spent = Decimal(str(self._book.spent))
        self.purse = LocalPurse(spending.money, spending.tokens, spent, used)
        facts = DeviceFacts(device.slug, device.kind, device.name, device.facts, ceilings)
        self.generator = LlmGenerator(
            Brief(task.spec, task.title, language, facts),
            arms,
            Desk(config, self.purse.ledger, self.purse, clock=clock),
            journal,
            self._outcome,
            seed=plan.seed,
            library=library,
            verify=verify,
            independent=plan.policy == Policy.RANDOM,
            profiles=self._profiled,
        )
        written = Written(str(language), language, self.generator, TextOutlook())
        self.search = LocalSearch(task, written, plan, self._measured)

    def _outcome(self, digest: str) -> Outcome | None:
        document = self.search.outcomes.get(digest)
        return None if document is None else read_outcome(document)

    def _measured(self, kernel: KernelText) -> ResultDocument:
        """Measure, and note it: a resumed search goes on from the same times.

        A failure of ours is not noted: the kernel was paid for, and is measured once the engine works again.
        """
        digest = digest_of(kernel)
        kept = self._book.measured.get(digest)
        if kept is not None and kept["document"]["verdict"] not in NOT_THE_KERNELS:
            return kept["document"]  # type: ignore[no-any-return]
        document = self._measure(kernel)
        if document["verdict"] not in NOT_THE_KERNELS:
            self._journal.add("measured", digest, {"document": _kept(document)})
        return document

    def _profiled(self, digest: str) -> str:
        """Have the kernel looked at by a profiler, once; it costs device time and no measurement."""
        if self._profile is None:
            return ""
        if digest not in self._book.profiled:
            kernel = self.search.state.candidates[digest].proposal.kernel
            document = self._profile(kernel)
            said = readable(document) if document["verdict"] == Verdict.PASSED else ""
            found = {"text": said, "device_seconds": document["device_seconds"]}
            if document["verdict"] in NOT_THE_KERNELS:
                self._book.profiled[digest] = found  # for this sitting; the next one may look again
            else:
                self._book.add("profiled", digest, found)
        return str(self._book.profiled[digest]["text"])

    def report(self) -> dict[str, Any]:
        book = Book(self._journal)
        records = book.records(self._outcome)
        return {
            **self.search.report(),
            "generator": "llm",
            "models": book.costs(),
            "money_spent": round(book.spent, 6),
            "tokens_spent": sum(int(document["tokens"]) for document in book.replied.values()),
            "replies_without_kernel": book.faults(),
            "verifiers": {
                str(verifier): {
                    "warned": record.warned,
                    "precision": record.precision,
                    "recall": record.recall,
                }
                for verifier, record in records.items()
            },
            "examples": {
                key: {"shown": use.shown, "helped": use.helped}
                for key, use in book.uses(self._outcome).items()
            },
        }


def catalog_library(task: CatalogTask, kind: DeviceKind) -> list[Example]:
    """Verified kernels of the other built-in tasks; finding those of this one is the search."""
    found = []
    for other in load_all():
        if other.slug == task.slug:
            continue
        for fixture in other.good:
            if kind in fixture.device_kinds:
                kernel = KernelText(str(fixture.language), fixture.source())
                key = f"{other.slug}/{fixture.path.name}"
                found.append(Example(key, other.slug, other.spec.reference, kernel, fixture.note))
    return found


def language_for(task: CatalogTask, kind: DeviceKind, wanted: str) -> Language | None:
    """The language to write in: the wanted one, or the first compiled one that task and device share."""
    shared = [
        item for item in task.spec.languages if item in LANGUAGES_OF[kind] and str(item) in task.starters
    ]
    shared.sort(key=lambda item: item == Language.PYTHON)
    return next((item for item in shared if wanted in ("", str(item))), None)


def _kept(document: ResultDocument) -> dict[str, Any]:
    kept: dict[str, Any] = {name: document[name] for name in _KEPT if name in document}  # type: ignore[literal-required]
    kept["benchmarks"] = [
        {name: value for name, value in timing.items() if name in _KEPT_OF_TIMING}
        for timing in document.get("benchmarks", [])
    ]
    if (report := document.get("compile")) is not None:
        kept["compile"] = {"log": report.get("log", "")[:4000]}
    return kept
