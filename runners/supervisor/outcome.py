"""How an evaluation ends early."""

from runners.contract.vocabulary import Verdict


class Ended(Exception):
    """The evaluation is over with ``verdict``; ``reason`` is one sentence for the submitter."""

    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason


class CaseFailed(Exception):
    """One case went wrong in a way that the child survived, so that the next case can run."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message


class LateWrite(Exception):
    """Outputs changed after the kernel had returned."""
