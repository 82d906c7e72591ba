"""Which settings are worth proposing because they were good elsewhere."""

from collections.abc import Iterable, Mapping

from leaderboard.search.grid import Settings

#: Settings that are proposed so; of more devices each has fewer of them.
_MOST = 64


def recall_order(histories: Iterable[Mapping[Settings, float | None]]) -> list[Settings]:
    """The best settings of each history, in turns, so that no device has the whole say."""
    leaders = []
    for history in histories:
        times = {settings: seconds for settings, seconds in history.items() if seconds is not None}
        leaders.append(sorted(times, key=times.__getitem__)[:_MOST])
    turns = [item for place in range(_MOST) for order in leaders for item in order[place : place + 1]]
    return list(dict.fromkeys(turns))[:_MOST]
