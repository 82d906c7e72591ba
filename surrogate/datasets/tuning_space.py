"""A fully measured tuning space: one templated kernel, every setting of its parameters timed on a device."""

import hashlib
import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from surrogate.contract.request import Anchor, CaseFacts, DeviceFacts, ForecastRequest, KernelText, TaskFacts
from surrogate.datasets.devices import device_of
from surrogate.datasets.record import Dataset, DatasetError, positive, record
from surrogate.forecasters.base import Outcome

#: Settings that become records of one device, for forecast scores; the search replay uses all of them.
SAMPLE = 300
#: Settings that serve as anchors. The same ones on every device, so that ratios can be carried over; so they
#: are chosen by hash, not by time.
ANCHORS = 3

Settings = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Space:
    """``seconds`` (None: failed) and ``noise`` (relative spread of repeats) by settings."""

    device: DeviceFacts
    task: TaskFacts
    source: str
    seconds: Mapping[Settings, float | None]
    noise: Mapping[Settings, float]

    @property
    def best(self) -> float:
        return min(value for value in self.seconds.values() if value is not None)


def recognises(first: Mapping[str, Any]) -> bool:
    return "params" in first and "device" in first and ("time_ms" in first or "error" in first)


def read_space(rows: Iterable[Mapping[str, Any]], source: str) -> Space:
    """The space in ``rows``; ``source`` is its templated kernel, empty where it is not at hand."""
    seconds: dict[Settings, float | None] = {}
    noise: dict[Settings, float] = {}
    device_name, size = "", ()
    for row in rows:
        device_name, size = str(row["device"]), tuple(row.get("problem_size", ()))
        settings = tuple(sorted((name, float(value)) for name, value in row["params"].items()))
        milliseconds = positive(row, "time_ms")
        seconds[settings] = None if milliseconds is None or "error" in row else milliseconds / 1000
        noise[settings] = _noise(row.get("samples_ms"))
    if not any(seconds.values()):
        raise DatasetError("the tuning space has no setting that worked")
    task = TaskFacts("tuned-convolution", source, "tuned-convolution", cases=(_case(size, seconds),))
    return Space(device_of(device_name), task, source, seconds, noise)


def load(rows: Iterable[Mapping[str, Any]], source: str) -> Dataset:
    """Records of a sample of settings against three anchors, the same settings on every device."""
    space = read_space(rows, source)
    data = Dataset()
    data.counts["lines"] = len(space.seconds)
    data.counts["failed"] = sum(value is None for value in space.seconds.values())
    by_hash = sorted(space.seconds, key=_hash)
    sample = by_hash[:SAMPLE]
    for place, anchor_settings in enumerate(by_hash[SAMPLE : SAMPLE + ANCHORS]):
        anchor_seconds = space.seconds[anchor_settings]
        if anchor_seconds is None:
            continue
        anchor = Anchor(
            f"incumbent {place}",
            "cuda",
            source,
            {space.task.cases[0].name: anchor_seconds},
            dict(anchor_settings),
        )
        for settings in sample:
            if settings == anchor_settings:
                continue
            request = ForecastRequest(
                space.task, KernelText("cuda", source, dict(settings)), space.device, anchor
            )
            taken = space.seconds[settings]
            ratio = None if taken is None else math.log2(anchor_seconds / taken)
            noise = math.hypot(space.noise[settings], space.noise[anchor_settings]) / math.log(2)
            data.records.append(record(Outcome(request, ratio, noise)))
    return data


def _hash(settings: Settings) -> str:
    return hashlib.blake2b(repr(settings).encode(), digest_size=8).hexdigest()


def _noise(samples: object) -> float:
    """Spread of the repeats, relative to their mean."""
    if not isinstance(samples, list) or len(samples) < 2:
        return 0.0
    mean = statistics.fmean(samples)
    return statistics.stdev(samples) / mean if mean > 0 else 0.0


def _case(size: tuple[int, ...], seconds: Mapping[Settings, float | None]) -> CaseFacts:
    """Bytes and FLOPs of a two-dimensional convolution, where the file states its image and filter."""
    filters = {name: int(value) for name, value in next(iter(seconds)) if name.startswith("filter_")}
    if len(size) != 2 or set(filters) != {"filter_height", "filter_width"}:
        return CaseFacts("tuned", {})
    height, width = int(size[1]), int(size[0])
    taps = filters["filter_height"] * filters["filter_width"]
    sizes = {"height": height, "width": width, **filters}
    return CaseFacts("tuned", sizes, 2 * height * width * 4, 2 * height * width * taps)
