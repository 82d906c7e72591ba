"""Is the device still fit for work after what ran on it? Asked by a runner after a run that ended badly."""

import logging
from collections.abc import Callable

from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import DeviceKind, Stage, Verdict
from runners.gpu_health import check_gpu
from runners.models import Device, Runner
from runners.services import devices

logger = logging.getLogger(__name__)

#: Verdicts of runs whose process may have been killed, or have crashed, in the middle of a launch. Outputs
#: may be wrong because one still runs.
DOUBTFUL = frozenset(
    {
        Verdict.TIMEOUT,
        Verdict.CANCELLED,
        Verdict.RUNTIME_ERROR,
        Verdict.RESOURCE_LIMIT,
        Verdict.INTERNAL_ERROR,
        Verdict.WRONG,
    }
)
#: Refused in one of these, a submission was running; refused before, it never did.
_RUNNING = frozenset({Stage.VERIFY, Stage.TIME, Stage.PROFILE})


def look_after(
    *,
    device: Device,
    target: DeviceTarget,
    verdict: Verdict,
    failed_stage: str = "",
    runner: Runner | None = None,
    check: Callable[[int], str] = check_gpu,
) -> bool:
    """Check a GPU after a run with this verdict, and quarantine its device when it fails. Whether it is fit.

    That takes all cards of the kind out of use, on every host, until a person has looked: times of one board
    come from any of them. The reason names ``runner``, whose card it is.
    ``failed_stage`` is the stage that the verdict was found in, empty where there is none.

    A CPU needs no check: the kernel that runs it would be gone as well. Two runs never share a GPU, so the
    check has it alone.
    """
    doubtful = verdict in DOUBTFUL or (verdict == Verdict.REFUSED and failed_stage in _RUNNING)
    if target.kind != DeviceKind.CUDA or not doubtful:
        return True
    try:
        fault = check(target.index)
    except OSError as error:  # no process could be started: that says nothing about the GPU
        logger.warning("could not check GPU %d: %s", target.index, error)
        return True
    if fault:
        devices.quarantine(device=device, reason=_naming(fault, runner))
    return not fault


def _naming(fault: str, runner: Runner | None) -> str:
    """``fault`` with the runner that found it: by its number alone, as people read this and hosts are not
    theirs to know.
    """
    return f"{fault[:250].rstrip('. ')} (runner {runner.short_name})." if runner is not None else fault
