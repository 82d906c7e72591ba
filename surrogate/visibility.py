"""Which measured kernels anyone may read. Who entered them is not known here: the layers above say.

It matters where a kernel leaves the process that forecasts: in a prompt to somebody else's model, whose words
other people are then shown.
"""

from django.db.models import Exists, OuterRef, Q

from surrogate.models import Outcome

_rules: list[Q] = []


def may_be_read(rule: Q) -> None:
    """Declare what makes the kernel of an outcome public: a condition on ``Outcome``. One rule suffices."""
    if rule not in _rules:
        _rules.append(rule)


def is_public() -> Exists:
    """To annotate a query of outcomes with. Nothing is public where nobody declared what is."""
    if not _rules:
        return Exists(Outcome.objects.none())
    whole = Q()
    for rule in _rules:
        whole |= rule
    return Exists(Outcome.objects.filter(whole, pk=OuterRef("pk")))
