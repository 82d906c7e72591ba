"""Words that others wrote, a language model or a service, made fit to be stored and shown."""

import unicodedata

#: Control characters, which no database column takes (NUL) and no page shows; marks without a width, which
#: turn the direction of what follows or hide words; halves of surrogate pairs, which are no text.
_UNFIT = frozenset({"Cc", "Cf", "Cs"})


def plain(text: str) -> str:
    """``text`` on one line, without what could change how other words beside it are read."""
    kept = (
        character if unicodedata.category(character) not in _UNFIT else " " * character.isspace()
        for character in text
    )
    return " ".join("".join(kept).split())
