"""One spelling of cases for people: by sizes and fills, as tables have it, not by name as task files have it.

The measuring side speaks of a case by its name, which is short and unique; stored reasons hold it.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from leaderboard.models import TaskVersion
from leaderboard.selectors.specs import stored_spec
from runners.contract.spec import Case

#: From a text with names of cases to one with their descriptions.
Spelling = Callable[[str], str]


def described(text: str, version: Callable[[], TaskVersion]) -> str:
    """``text`` with every name of a case of the version replaced by its description.

    A query for a spec not met before, and none for most texts: names are of several words.
    """
    if "-" not in text:
        return text
    return _stored_spelling(version().spec_id)(text)


def spelling_of(cases: Iterable[Case]) -> Spelling:
    """The same for cases that are at hand."""
    descriptions = {case.name: case.describe() for case in cases}
    names = sorted(descriptions, key=len, reverse=True)  # one may begin with another
    either = "|".join(map(re.escape, names))
    pattern = re.compile(rf"(?<![\w-])(?:{either})(?![\w-])")
    return lambda text: pattern.sub(lambda match: descriptions[match[0]], text)


@lru_cache(maxsize=256)
def _stored_spelling(spec_digest: str) -> Spelling:
    return spelling_of(stored_spec(spec_digest).cases)
