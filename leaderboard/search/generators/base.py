"""The one interface of all generators."""

import hashlib
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any, Protocol

from surrogate.contract.request import KernelText
from surrogate.features.similarity import kernel_digest


class Operator(StrEnum):
    """How a candidate came about."""

    START = "start"  # what everybody begins with: the starter, the template's default
    RECALL = "recall"  # was good elsewhere: on another device, in an earlier run
    RANDOM = "random"
    NEIGHBOUR = "neighbour"  # one parent, one small change
    CROSSOVER = "crossover"  # two parents
    # A language model's:
    TRANSLATE = "translate"  # the reference as a first correct kernel
    REWRITE = "rewrite"  # one parent, everything may change
    DIFF = "diff"  # one parent, local edits
    COMBINE = "combine"  # two parents
    DIFFERENT = "different"  # unlike all of several parents
    REPAIR = "repair"  # a kernel that failed, with what it failed by


def is_starter(operator: str, parameters: Any) -> bool:
    """Whether a candidate is the task's starter, which a search begins with: a template's start has
    parameters.
    """
    return operator == Operator.START and not parameters


@dataclass(frozen=True)
class Proposal:
    """A kernel that may be worth measuring. ``digest`` is equal for kernels with equal code and settings.

    ``cell`` says what kind of kernel it is: the archive keeps the best of each kind.
    """

    digest: str
    kernel: KernelText
    operator: Operator
    parents: tuple[str, ...] = ()
    cell: tuple[str, ...] = ()

    @property
    def is_starter(self) -> bool:
        return is_starter(self.operator, self.kernel.parameters)


@dataclass(frozen=True)
class Parent:
    """A measured kernel that may be built on; smaller ``log2_seconds`` are better."""

    digest: str
    kernel: KernelText
    log2_seconds: float


@dataclass(frozen=True)
class Ask:
    """What a search wants: ``count`` kernels that are not in ``known``, built on ``parents`` (best first).

    ``step`` names the place in the search; equal places of equal searches have equal names.
    """

    count: int
    parents: Sequence[Parent]
    known: Set[str]
    step: str = ""


class GeneratorPaused(Exception):
    """The generator can't work at present, and trying again at once would only cost; the message says why."""


class GeneratorSpent(Exception):
    """What the generator may spend is spent; the message says what of."""


class Generator(Protocol):
    """``propose`` may return fewer than asked for; none at all means that it has nothing new to say.

    One that costs money raises GeneratorPaused or GeneratorSpent where it can't go on.
    """

    @property
    def name(self) -> str: ...

    def propose(self, ask: Ask, random: Random) -> list[Proposal]: ...


def good_parent(parents: Sequence[Parent], random: Random) -> Parent:
    """One of ``parents``, which come best first: from the better half three times out of four."""
    half = (len(parents) + 1) // 2
    return random.choice(parents[:half] if random.random() < 0.75 else parents)


def digest_of(kernel: KernelText) -> str:
    """Equal for kernels that differ in comments, layout or names of no meaning only: 32 hex digits."""
    return hashlib.blake2b(kernel_digest(kernel).encode(), digest_size=16).hexdigest()
