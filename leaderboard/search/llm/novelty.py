"""Whether a written kernel is a new one, before a verifier or a device is paid for it. Pure."""

from collections.abc import Sequence

from leaderboard.search.generators.base import Operator
from leaderboard.search.llm.embedding import cosines, numbers
from surrogate.contract.request import KernelText

#: Cosine from which two sources count as one text with a few tokens changed. Of two correct kernels of one
#: task in the catalogue, the most alike come to 0.91; one with a line spoilt comes to 0.86 to 0.99.
SAME = 0.95
#: Operators whose kernels are told from another one by a few tokens: that is what was asked for.
_SMALL_CHANGES = frozenset({Operator.DIFF, Operator.REPAIR})


def repeats(operator: Operator, kernel: KernelText, known: Sequence[KernelText]) -> int | None:
    """The place in ``known`` of the kernel that this one repeats; None for a new one.

    A kernel with other numbers is new, as the size of a tile may be all that matters; where it was to differ
    from others, numbers are not enough.
    """
    if operator in _SMALL_CHANGES:
        return None
    alike = cosines(kernel, known)
    for place in alike.argsort()[::-1].tolist():
        if alike[place] < SAME:
            break
        if operator == Operator.DIFFERENT or numbers(kernel) == numbers(known[place]):
            return int(place)
    return None
