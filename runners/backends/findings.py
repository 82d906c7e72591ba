"""Turning what the rules found into findings."""

from collections.abc import Iterable, Sequence
from typing import Any

from runners.contract.result import Finding
from runners.contract.rules import MOST_FINDINGS, RULES
from runners.contract.spec import TaskSpec

#: (line, rule, what it is about)
Hit = tuple[int, str, str]


def findings_of(hits: Iterable[Hit], file: str, spec: TaskSpec) -> list[Finding]:
    """The first findings, in the order of their lines. Those refuse whose rule the task forbids."""
    return [
        {
            "rule": rule,
            "line": line,
            "message": f"{file}, line {line}: {_sentence(rule, subject, spec)}",
            "refuses": rule in spec.forbids,
        }
        for line, rule, subject in sorted(set(hits))[:MOST_FINDINGS]
    ]


def as_hit(stored: Sequence[Any]) -> Hit:
    """A hit that was kept as JSON."""
    line, rule, subject = stored
    return int(line), str(rule), str(subject)


def _sentence(rule: str, subject: str, spec: TaskSpec) -> str:
    sentence = RULES[rule].format(subject)
    return f"{sentence}; the task {spec.slug} forbids that ({rule})" if rule in spec.forbids else sentence
