"""The verify stage: every test case, and hidden ones where the mode has them."""

import time
from collections.abc import Callable, Sequence

from runners.contract.result import CaseResult
from runners.contract.spec import Case
from runners.contract.vocabulary import Verdict
from runners.supervisor.checking import allowance_used
from runners.supervisor.compare import sentence
from runners.supervisor.outcome import CaseFailed, Ended
from runners.supervisor.session import DeviceSession, OpenCase

#: Two slots get the same inputs, so that a kernel that varies from run to run or place to place is seen; then
#: both get new ones, unlike each other and called in the other order, so that one that remembers an address,
#: a shape, the last answer or the first tensor it was given is seen.
_SLOTS = 2
#: Batches on the same inputs: five runs in all, of which only the first is compared with the reference, and
#: the others with the first, bit for bit.
_REPEATS = ((0, 1), (1, 0), (0,))
#: Seconds of the first batch beyond which it is not repeated: a slow kernel shall not be three times slower.
_WORTH_REPEATING = 0.5


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
        _repeat(opened, case, seed, result)
        order = list(reversed(range(_SLOTS)))
        opened.arm(order)
        for slot in order:
            opened.fill(slot, seed, case.name, f"again {slot}")
        opened.run()
        _check(opened, order, result)
    finally:
        opened.close()


def _repeat(opened: OpenCase, case: Case, seed: bytes, result: CaseResult) -> None:
    """Runs on the same inputs, until one differs. What differs from a right answer is compared, too."""
    prints: set[bytes] = set()
    runs = 0
    for order in _REPEATS:
        opened.arm(order)
        if runs:
            opened.renew()
        else:
            for slot in order:
                opened.fill(slot, seed, case.name, "first")
        seconds = opened.run()
        for slot in order:
            opened.check_inputs(slot)
            found = opened.fingerprint(slot)
            if found not in prints:
                _check(opened, [slot], result)
            prints.add(found)
        runs += len(order)
        if len(prints) > 1 or seconds > _WORTH_REPEATING:
            break
    result["deterministic"] = len(prints) == 1
    result["repeats"] = runs


def _check(opened: OpenCase, slots: Sequence[int], result: CaseResult) -> None:
    for slot in slots:
        opened.check_inputs(slot)
        errors = opened.check(slot)
        result["outputs"] = errors
        used, before = allowance_used(errors), result.get("allowance_used", 0.0)
        result["allowance_used"] = None if used is None or before is None else max(used, before)
        for error in errors:
            if error["mismatches"]:
                raise CaseFailed(Verdict.WRONG, sentence(error))
