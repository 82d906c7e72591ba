"""What a forecaster is asked: how fast will this kernel be on this device, relative to that anchor?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import CaseRole, DeviceKind


@dataclass(frozen=True)
class CaseFacts:
    """One benchmark case. ``bytes`` and ``flops`` are lower bounds of one call, None where unknown."""

    name: str
    sizes: Mapping[str, int]
    bytes: int | None = None
    flops: int | None = None


@dataclass(frozen=True)
class TaskFacts:
    """What a forecaster sees of a task. ``family`` groups tasks that calibrate alike; by default the slug."""

    slug: str
    reference: str  # source of the reference
    family: str = ""
    flops_dtype: str = "float32"
    cases: tuple[CaseFacts, ...] = ()

    @classmethod
    def of_spec(cls, spec: TaskSpec, kind: DeviceKind, *, family: str = "") -> "TaskFacts":
        """The benchmark cases of ``spec`` on devices of ``kind``."""
        cases = tuple(
            CaseFacts(case.name, dict(case.sizes), spec.case_bytes(case), spec.case_flops(case))
            for case in spec.cases_for(kind, CaseRole.BENCHMARK)
        )
        return cls(spec.slug, spec.reference, family or spec.slug, spec.flops_dtype, cases)


@dataclass(frozen=True)
class KernelText:
    """The source to be forecast. ``parameters`` are the settings of a templated kernel, empty otherwise.

    ``language`` is a word of runners.contract.vocabulary.Language, or another one for foreign records.
    """

    language: str
    source: str
    parameters: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class DeviceFacts:
    """Where it would run; ``facts`` and ``ceilings`` as in runners.models.Device."""

    slug: str
    kind: str
    name: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    ceilings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Anchor:
    """The kernel that the forecast is relative to, measured on the same device: incumbent or baseline.

    ``case_seconds`` maps case name to seconds; empty where only ratios were published.
    """

    name: str  # as people read it: "eager", "the leader", a user's name
    language: str
    source: str  # may be empty
    case_seconds: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def seconds(self) -> float | None:
        """Geometric mean over the cases, as on the boards."""
        if not self.case_seconds:
            return None
        return math.exp(sum(math.log(item) for item in self.case_seconds.values()) / len(self.case_seconds))


@dataclass(frozen=True)
class Neighbour:
    """A kernel of the same task with a known outcome, on this device or another one.

    ``log2_ratio`` is log2(t_anchor / t_neighbour), the same anchor measured on the neighbour's own device.
    ``key`` leads to who may read it; without one it is of public data. One that is private may inform a
    number, and must not be shown to anybody or told to a service.
    """

    kernel: KernelText
    device: DeviceFacts
    log2_ratio: float
    key: int | None = None


@dataclass(frozen=True)
class ForecastRequest:
    task: TaskFacts
    kernel: KernelText
    device: DeviceFacts
    anchor: Anchor
    neighbours: tuple[Neighbour, ...] = ()
