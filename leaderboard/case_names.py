"""One spelling of cases for people: by sizes and fills, as tables have it, not by name as task files have it.

The measuring side speaks of a case by its name, which is short and unique; stored reasons hold it.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from leaderboard.models import TaskVersion
from leaderboard.selectors.specs import stored_spec


def described(text: str, version: Callable[[], TaskVersion]) -> str:
    """``text`` with every name of a case of the version replaced by its description.

    A query for a spec not met before, and none for most texts: names are of several words.
    """
    if "-" not in text:
        return text
    pattern, descriptions = _cases(version().spec_id)
    return pattern.sub(lambda match: descriptions[match[0]], text)


@lru_cache(maxsize=256)
def _cases(spec_digest: str) -> tuple[re.Pattern[str], dict[str, str]]:
    descriptions = {case.name: case.describe() for case in stored_spec(spec_digest).cases}
    names = sorted(descriptions, key=len, reverse=True)  # one may begin with another
    either = "|".join(map(re.escape, names))
    return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])"), descriptions
