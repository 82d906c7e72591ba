"""The verify stage: every test case, and hidden ones where the mode has them."""

import time
from collections.abc import Callable, Sequence

from runners.contract.result import CaseResult
from runners.contract.spec import Case
from runners.contract.vocabulary import Verdict
from runners.supervisor.compare import sentence
from runners.supervisor.outcome import CaseFailed, Ended
from runners.supervisor.session import DeviceSession, OpenCase

#: Two slots get the same inputs, so that a kernel that varies from run to run is seen; then both get new
#: ones, unlike each other and called in the other order, so that one that remembers an address, a shape, the
#: last answer or the first tensor it was given is seen.
_SLOTS = 2


def verify(
    session: DeviceSession,
    cases: Sequence[Case],
    *,
    hidden: bool,
    seed: bytes,
    report: Callable[[CaseResult], None],
) -> tuple[list[CaseResult], Ended | None]:
    """Checks each case. Returns the results, and how the evaluation ends if one failed.

    ``seed`` decides the inputs: derived from the spec for public cases, secret for hidden ones. A case
    that fails without harm to the process does not keep the others from running. A death ends the loop:
    the Ended comes back, too, so that the results so far are not lost. The first failure decides.
    """
    results: list[CaseResult] = []
    ended: Ended | None = None
    for case in cases:
        description = "hidden case" if hidden else case.describe()
        result: CaseResult = {
            "case": case.name,
            "description": description,
            "hidden": hidden,
            "status": "passed",
        }
        start = time.monotonic()
        try:
            _verify_case(session, case, seed, result)
        except CaseFailed as error:
            result["status"] = "failed" if error.verdict == Verdict.WRONG else "error"
            result["message"] = error.message
            ended = ended or Ended(error.verdict, f"Case {case.name}: {error.message}")
        except Ended as error:
            if error.verdict in (Verdict.CANCELLED, Verdict.INTERNAL_ERROR):
                return results, error
            result["status"] = "failed" if error.verdict == Verdict.WRONG else "error"
            result["message"] = error.reason
            results.append(result)
            report(result)
            return results, ended or error
        if hidden and result["status"] == "passed":
            result.pop("outputs", None)  # the worst elements would tell the sizes
        elif hidden:
            result["description"] = f"hidden case: {case.describe()}"  # drawn once, so no secret any more
        result["seconds"] = time.monotonic() - start
        results.append(result)
        report(result)
    return results, ended


def _verify_case(session: DeviceSession, case: Case, seed: bytes, result: CaseResult) -> None:
    opened = session.open(case, _SLOTS, timed=False)
    try:
        opened.arm(range(_SLOTS))
        for slot in range(_SLOTS):
            opened.fill(slot, seed, case.name, "first")
        opened.run()
        _check(opened, range(_SLOTS), result)
        result["deterministic"] = opened.fingerprint(0) == opened.fingerprint(1)
        order = list(reversed(range(_SLOTS)))
        opened.arm(order)
        for slot in order:
            opened.fill(slot, seed, case.name, f"again {slot}")
        opened.run()
        _check(opened, order, result)
    finally:
        opened.close()


def _check(opened: OpenCase, slots: Sequence[int], result: CaseResult) -> None:
    for slot in slots:
        opened.check_inputs(slot)
        errors = opened.check(slot)
        result["outputs"] = errors
        for error in errors:
            if error["mismatches"]:
                raise CaseFailed(Verdict.WRONG, sentence(error))
