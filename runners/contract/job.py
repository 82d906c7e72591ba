"""What the supervisor is asked to do: one JSON document on its standard input."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from runners.contract.limits import LIMITS, ModeLimits
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Language, Mode


@dataclass(frozen=True)
class DeviceTarget:
    """The device instance to run on."""

    kind: DeviceKind
    index: int = 0  # CUDA ordinal; 0 on the CPU
    cores: tuple[int, ...] = ()  # CPU cores the child is pinned to
    facts: Mapping[str, Any] = field(default_factory=dict)
    ceilings: Mapping[str, Any] = field(default_factory=dict)  # see runners.models.Device.ceilings

    def to_document(self) -> dict[str, Any]:
        return {
            "kind": str(self.kind),
            "index": self.index,
            "cores": list(self.cores),
            "facts": dict(self.facts),
            "ceilings": dict(self.ceilings),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "DeviceTarget":
        return cls(
            DeviceKind(document["kind"]),
            document["index"],
            tuple(document["cores"]),
            document["facts"],
            document["ceilings"],
        )


@dataclass(frozen=True)
class Job:
    """One evaluation. ``data_dir`` holds compile cache and scratch folders; the child never sees it.

    ``limits`` and ``bounds`` are for suites, which try every limit and cannot wait for the usual ones.
    """

    evaluation: str  # id, for messages only
    spec: TaskSpec
    language: Language
    source: str
    mode: Mode
    target: DeviceTarget
    data_dir: str
    required_tier: str = "T0"  # the run is refused below it
    limits: ModeLimits | None = None  # in place of the mode's own
    bounds: Mapping[str, int] = field(default_factory=dict)  # in place of sandbox.bounds.Bounds' own

    @property
    def chosen_limits(self) -> ModeLimits:
        return self.limits or LIMITS[self.mode]

    def to_document(self) -> dict[str, Any]:
        return {
            "evaluation": self.evaluation,
            "spec": self.spec.to_document(),
            "language": str(self.language),
            "source": self.source,
            "mode": str(self.mode),
            "target": self.target.to_document(),
            "data_dir": self.data_dir,
            "required_tier": self.required_tier,
            "limits": asdict(self.limits) if self.limits else None,
            "bounds": dict(self.bounds),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Job":
        return cls(
            evaluation=document["evaluation"],
            spec=TaskSpec.from_document(document["spec"]),
            language=Language(document["language"]),
            source=document["source"],
            mode=Mode(document["mode"]),
            target=DeviceTarget.from_document(document["target"]),
            data_dir=document["data_dir"],
            required_tier=document["required_tier"],
            limits=ModeLimits(**document["limits"]) if document.get("limits") else None,
            bounds=document.get("bounds") or {},
        )
