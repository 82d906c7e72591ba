"""The journal of a search keeps whatever a model wrote, as far as it is text."""

from collections.abc import Callable

from leaderboard.search.llm.database import DatabaseJournal
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import SearchRun


def test_what_cannot_be_stored_is_replaced_wherever_it_stands(start: Callable[..., SearchRun]) -> None:
    journal = DatabaseJournal(start().pk)
    journal.add(JournalEntry.Kind.USED, "1", {"a\0b": ["c\ud800", {"d": ("\0",)}], "e": 1})
    (entry,) = journal.entries()
    assert entry == {"a\ufffdb": ["c\ufffd", {"d": ["\ufffd"]}], "e": 1, "kind": "used", "step": "1"}
