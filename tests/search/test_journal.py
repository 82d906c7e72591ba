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


def test_prompts_are_kept_and_not_read_with_the_rest(start: Callable[..., SearchRun]) -> None:
    journal = DatabaseJournal(start().pk)
    journal.add("asked", "1", {"bound": "0.5", "tokens_bound": 10, "prompt": "Write a kernel."})
    assert journal.entries() == [{"bound": "0.5", "tokens_bound": 10, "kind": "asked", "step": "1"}]
    assert JournalEntry.objects.get().document["prompt"] == "Write a kernel."
