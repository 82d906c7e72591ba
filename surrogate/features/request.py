"""One row of numbers per request: kernel, anchor, task, device, and what is known of relatives."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surrogate.contract.request import Anchor, DeviceFacts, ForecastRequest, KernelText, Neighbour, TaskFacts
from surrogate.features.roofline import bound_seconds, flops_rate
from surrogate.features.similarity import kernel_digest, similarities
from surrogate.features.source import source_features

_UNKNOWN = math.nan
_LANGUAGES = ("python", "cpp", "cuda")
#: The column of ``feature_table`` that holds the mean log2 speed-up of the same kernel on other devices.
SAME_KERNEL_ELSEWHERE = -8


@dataclass(frozen=True)
class FeatureNames:
    """Names of kernel parameters that a table has columns for; fixed when a model is fitted."""

    parameters: tuple[str, ...] = ()

    @classmethod
    def of(cls, requests: Iterable[ForecastRequest]) -> "FeatureNames":
        return cls(tuple(sorted({name for request in requests for name in request.kernel.parameters})))


def feature_table(requests: Sequence[ForecastRequest], names: FeatureNames) -> NDArray[np.float64]:
    """One row per request, columns in a fixed order for given ``names``; NaN where something is unknown."""
    distances: dict[tuple[str, str], float] = {}  # of one table: facts of a slug do not change within it
    return np.array([_row(request, names, distances) for request in requests], dtype=np.float64)


def mirrored(request: ForecastRequest) -> ForecastRequest:
    """The same pair asked the other way round: how fast is the anchor, with the kernel as its anchor?

    Neighbours are left behind, for their ratios are over the old anchor.
    """
    kernel, anchor = request.kernel, request.anchor
    return ForecastRequest(
        request.task,
        KernelText(anchor.language, anchor.source, anchor.parameters),
        request.device,
        Anchor("mirrored", kernel.language, kernel.source, {}, kernel.parameters),
    )


def _row(
    request: ForecastRequest, names: FeatureNames, distances: dict[tuple[str, str], float]
) -> list[float]:
    kernel = source_features(request.kernel.language, request.kernel.source)
    anchor = source_features(request.anchor.language, request.anchor.source)
    reference = source_features("python", request.task.reference)
    row = [*kernel, *(one - other for one, other in zip(kernel, anchor, strict=True)), *reference]
    row += [float(request.kernel.language == language) for language in _LANGUAGES]
    row += [float(request.anchor.language == language) for language in _LANGUAGES]
    row += _settings(request, names)
    row += _device(request.device)
    row += _task(request.task, request.device, request.anchor.seconds)
    row += _relatives(request, distances)
    return row


def _settings(request: ForecastRequest, names: FeatureNames) -> list[float]:
    """log2 of each parameter and of its ratio to the anchor's."""
    row = []
    for name in names.parameters:
        value = _log2(request.kernel.parameters.get(name))
        row += [value, value - _log2(request.anchor.parameters.get(name))]
    return row


def _device(device: DeviceFacts) -> list[float]:
    bandwidth = _log2(device.ceilings.get("copy_bytes_per_s"), shift=0)
    rate = _log2(flops_rate(device.ceilings, "float32"), shift=0)
    return [
        bandwidth,
        rate,
        rate - bandwidth,
        _log2(device.ceilings.get("launch_seconds"), shift=0),
        _log2(device.facts.get("multiprocessors")),
        _log2(device.facts.get("l2_bytes")),
        float(device.kind == "cuda"),
        float("amd" in device.name.lower() or "radeon" in device.name.lower()),
    ]


def _task(task: TaskFacts, device: DeviceFacts, anchor_seconds: float | None) -> list[float]:
    bound = bound_seconds(task, device)
    intensities = [case.flops / case.bytes for case in task.cases if case.flops and case.bytes]
    return [
        math.log2(bound) if bound else _UNKNOWN,
        math.log2(anchor_seconds) if anchor_seconds else _UNKNOWN,
        math.log2(anchor_seconds / bound) if anchor_seconds and bound else _UNKNOWN,
        sum(map(math.log2, intensities)) / len(intensities) if intensities else _UNKNOWN,
    ]


def _relatives(request: ForecastRequest, distances: dict[tuple[str, str], float]) -> list[float]:
    """The same kernel elsewhere (count, mean, ends, most alike device), then kernels like it."""
    mine = kernel_digest(request.kernel)
    same: list[Neighbour] = []
    similar: list[Neighbour] = []
    for item in request.neighbours:
        (same if kernel_digest(item.kernel) == mine else similar).append(item)
    row = [float(len(same)), _UNKNOWN, _UNKNOWN, _UNKNOWN, _UNKNOWN, _UNKNOWN]
    if same:
        ratios = [item.log2_ratio for item in same]
        for item in same:
            pair = (item.device.slug, request.device.slug)
            if pair not in distances:
                distances[pair] = device_distance(item.device, request.device)
        distance, closest = min(
            ((distances[item.device.slug, request.device.slug], item) for item in same),
            key=lambda found: found[0],
        )
        row = [
            float(len(same)),
            sum(ratios) / len(ratios),
            min(ratios),
            max(ratios),
            closest.log2_ratio,
            distance,
        ]
    if not similar:
        return [*row, 0.0, _UNKNOWN, _UNKNOWN]
    likeness = similarities(request.kernel, [item.kernel for item in similar])
    weights = likeness**4 + 1e-6
    mean = float(np.average([item.log2_ratio for item in similar], weights=weights))
    return [*row, float(likeness.max()), mean, similar[int(likeness.argmax())].log2_ratio]


def device_distance(one: DeviceFacts, other: DeviceFacts) -> float:
    """How unlike two devices are, in octaves over their ceilings; makers and kinds differ by 4 more."""
    left, right = _device(one), _device(other)
    octaves = np.abs(np.array(left[:6]) - np.array(right[:6]))
    known = octaves[~np.isnan(octaves)]
    kinds = 4.0 * (left[6] != right[6]) + 4.0 * (left[7] != right[7])
    return float(known.mean()) + kinds if len(known) else 8.0 + kinds


def _log2(value: Any, shift: float = 1.0) -> float:
    """log2(value + shift), NaN for anything but a number that allows it; mappings and words are unknown."""
    if isinstance(value, bool | str | Mapping) or not isinstance(value, int | float):
        return _UNKNOWN
    return math.log2(value + shift) if math.isfinite(value) and value + shift > 0 else _UNKNOWN
