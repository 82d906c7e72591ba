"""Is the device still fit for work after what ran on it? Asked by a runner after a run that ended badly."""

import logging
from collections.abc import Callable

from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import DeviceKind, Verdict
from runners.gpu_health import check_gpu
from runners.models import Device
from runners.services import devices

logger = logging.getLogger(__name__)

#: Verdicts of runs whose process may have been killed, or have crashed, in the middle of a launch.
DOUBTFUL = frozenset(
    {
        Verdict.TIMEOUT,
        Verdict.CANCELLED,
        Verdict.RUNTIME_ERROR,
        Verdict.RESOURCE_LIMIT,
        Verdict.INTERNAL_ERROR,
    }
)


def look_after(
    *, device: Device, target: DeviceTarget, verdict: Verdict, check: Callable[[int], str] = check_gpu
) -> bool:
    """Check a GPU after a run with this verdict, and quarantine its device when it fails. Whether it is fit.

    A CPU needs no check: the kernel that runs it would be gone as well. Two runs never share a GPU, so the
    check has it alone.
    """
    if target.kind != DeviceKind.CUDA or verdict not in DOUBTFUL:
        return True
    try:
        fault = check(target.index)
    except OSError as error:  # no process could be started: that says nothing about the GPU
        logger.warning("could not check GPU %d: %s", target.index, error)
        return True
    if fault:
        devices.quarantine(device=device, reason=fault)
    return not fault
