"""What no call can be faster than, by the device's measured ceilings. Pure."""

from collections.abc import Mapping
from typing import Any

from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import DeviceKind

#: A time below this share of a floor is not believed: the floor is measured, and caches help a little.
_BELIEVABLE = 0.5
#: The same of the floor by arithmetic. Rates are a dtype's own, and units for smaller ones can do its work in
#: parts, exactly enough: three products in TF32 or in bfloat16 for one in float32, six times as fast on some
#: devices. Such a time is under the floor, so that a person looks at it.
_BELIEVABLE_ARITHMETIC = 0.1
#: Share of the least cost of a launch (launch_cost.py) that no call goes below: hosts clock up and down.
_LAUNCH_SHARE = 0.8


def floor_seconds(spec: TaskSpec, case: Case, ceilings: Mapping[str, Any]) -> float | None:
    """The roofline: no call takes less than its bytes over the bandwidth, its operations over the rate, or a
    launch. None where none of them is known.
    """
    floors = (_moving(spec, case, ceilings), _arithmetic(spec, case, ceilings))
    return max((floor for floor in floors if floor is not None), default=None)


def disbelief(spec: TaskSpec, case: Case, ceilings: Mapping[str, Any], seconds: float) -> str:
    """Why a call of ``seconds`` is not believed, as a sentence; empty where it may be."""
    for what, floor, share in (
        ("moving the data or launching a kernel", _moving(spec, case, ceilings), _BELIEVABLE),
        ("the arithmetic", _arithmetic(spec, case, ceilings), _BELIEVABLE_ARITHMETIC),
    ):
        if floor is not None and seconds < share * floor:
            return (
                f"{seconds:.3g} s per call is not believed: {what} takes this device {floor:.3g} s at least."
            )
    return ""


def copy_seconds(spec: TaskSpec, case: Case, ceilings: Mapping[str, Any]) -> float:
    """About what copying one call's outputs takes, by the device's bandwidth; 0 where it was not measured.

    Part of the time of a kernel that returns tensors, and told apart only: a time that is taken off for work
    that the submission's own process reports can be had without doing the work.
    """
    bandwidth = ceilings.get("copy_bytes_per_s")
    size = sum(tensor.nbytes(case.sizes) for tensor in spec.outputs)
    return 2 * size / bandwidth if bandwidth else 0.0


def _moving(spec: TaskSpec, case: Case, ceilings: Mapping[str, Any]) -> float | None:
    floors = []
    # A sum reads only, which goes faster than reading and writing in turn.
    bandwidth = max(ceilings.get("copy_bytes_per_s") or 0.0, ceilings.get("read_bytes_per_s") or 0.0)
    if bandwidth and not case.fits_in_cache:
        floors.append(spec.case_bytes(case) / bandwidth)
    launch = ceilings.get("least_launch_seconds")
    if launch and case.device_kind == DeviceKind.CUDA:
        floors.append(_LAUNCH_SHARE * launch)
    return max(floors, default=None)


def _arithmetic(spec: TaskSpec, case: Case, ceilings: Mapping[str, Any]) -> float | None:
    rate = (ceilings.get("flops_per_s") or {}).get(spec.flops_dtype)
    return spec.case_flops(case) / rate if rate else None
