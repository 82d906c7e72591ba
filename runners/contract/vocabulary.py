"""The fixed words of an evaluation, shared by the engine, the database, the API and the pages."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Language(StrEnum):
    """Languages a Kernel can be written in."""

    PYTHON = "python"  # a module defining kernel(*inputs): torch, Triton, load_inline …
    CPP = "cpp"  # one C++ file with a plain C entry point, for CPU devices
    CUDA = "cuda"  # one CUDA file with a plain C entry point, for CUDA devices


#: File-name suffix of each language, also what an upload may end in.
SUFFIXES: dict[Language, tuple[str, ...]] = {
    Language.PYTHON: (".py",),
    Language.CPP: (".cpp", ".cc", ".cxx"),
    Language.CUDA: (".cu",),
}


class DeviceKind(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


#: Which languages can run on which kind of device.
LANGUAGES_OF: dict[DeviceKind, tuple[Language, ...]] = {
    DeviceKind.CPU: (Language.PYTHON, Language.CPP),
    DeviceKind.CUDA: (Language.PYTHON, Language.CUDA),
}


#: Languages as people read them.
LANGUAGE_LABELS = {Language.PYTHON: "Python", Language.CPP: "C++", Language.CUDA: "CUDA C++"}

#: What builds the sources of a language; Python needs nothing.
COMPILERS: dict[Language, str] = {Language.CPP: "g++", Language.CUDA: "nvcc"}
#: The fact ``compiler`` of a device whose runners have none.
NO_COMPILER = "none"


def lacks_compiler(language: Language, facts: Mapping[str, Any]) -> bool:
    """Whether a device with ``facts`` said that it cannot build ``language``."""
    return language in COMPILERS and facts.get("compiler") == NO_COMPILER


class Mode(StrEnum):
    """How far an evaluation goes."""

    CHECK = "check"  # screen and compile only; costs no device time
    TEST = "test"  # … and verify every test case
    BENCHMARK = "benchmark"  # … and time every benchmark case
    RANKED = "ranked"  # the same with secret inputs and longer timing; the only mode that scores
    PROFILE = "profile"  # verify, then run under a profiler


class Stage(StrEnum):
    SCREEN = "screen"
    COMPILE = "compile"
    VERIFY = "verify"
    TIME = "time"
    PROFILE = "profile"


#: The stages of each mode, in order.
STAGES_OF: dict[Mode, tuple[Stage, ...]] = {
    Mode.CHECK: (Stage.SCREEN, Stage.COMPILE),
    Mode.TEST: (Stage.SCREEN, Stage.COMPILE, Stage.VERIFY),
    Mode.BENCHMARK: (Stage.SCREEN, Stage.COMPILE, Stage.VERIFY, Stage.TIME),
    Mode.RANKED: (Stage.SCREEN, Stage.COMPILE, Stage.VERIFY, Stage.TIME),
    Mode.PROFILE: (Stage.SCREEN, Stage.COMPILE, Stage.VERIFY, Stage.PROFILE),
}


class Work(StrEnum):
    """Whose kernels did a submission's work; by names, so a classification and no judgment."""

    OWN = "own"  # none of a library's was seen
    LIBRARY = "library"


#: The same as people read it, within a sentence.
WORK_LABELS: dict[str, str] = {Work.OWN: "own kernels", Work.LIBRARY: "library calls"}


class Verdict(StrEnum):
    PASSED = "passed"
    WRONG = "wrong"  # an output differs from the reference by more than the tolerance
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"  # the kernel raised, crashed or broke the entry point's contract
    TIMEOUT = "timeout"
    RESOURCE_LIMIT = "resource_limit"  # memory, processes, files or output
    REFUSED = "refused"  # a rule was broken before anything ran
    CANCELLED = "cancelled"
    INTERNAL_ERROR = "internal_error"  # ours, never the submitter's


class CaseRole(StrEnum):
    TEST = "test"
    BENCHMARK = "benchmark"
