"""What the engine's screening would refuse is refused before a verifier or a measurement is paid for it."""

import re

from runners.backends.registry import BACKENDS
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Language

#: Roughly Python's tokens, whose number bounds what parsing costs; more is left to the engine and its limits.
_TOKEN = re.compile(r"\w+|[^\w\s]")
_MOST_PARSED = 30_000


def refused(source: str, language: Language, spec: TaskSpec) -> str:
    """The sentence of the first finding that refuses; empty where there is none."""
    if language == Language.PYTHON and sum(1 for _ in _TOKEN.finditer(source)) > _MOST_PARSED:
        return ""
    findings = BACKENDS[language].screen(source, spec)
    return next((item["message"] for item in findings if item["refuses"]), "")
