"""One kernel that a sitting wants, over the calls that it takes to get it."""

from dataclasses import dataclass, field

from leaderboard.search.llm.moves import Move
from leaderboard.search.llm.replies import Unusable

#: Answers without a kernel after which a slot is left empty. Calls that failed on the way do not count.
MOST_FAULTS = 3


@dataclass
class Slot:
    """``tries`` numbers its calls, ``faults`` counts answers without a kernel."""

    name: str
    tries: int = 0
    faults: int = 0
    step: str = ""
    move: Move | None = None
    last: Unusable | None = None
    refused: set[str] = field(default_factory=set)  # arms that declined: another one may not
    done: bool = False
