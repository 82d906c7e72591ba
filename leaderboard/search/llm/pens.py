"""What a run by a language model has in a template's place: a language and the wording of its prompts."""

import hashlib
from dataclasses import dataclass

from leaderboard.search.generators.template import KEYS
from leaderboard.search.llm import prompts
from runners.contract.vocabulary import LANGUAGES_OF, DeviceKind, Language


@dataclass(frozen=True)
class Pen:
    """``key`` is that of the starter that the kernels are compared with."""

    key: str

    @property
    def language(self) -> Language:
        return KEYS[self.key][0]

    @property
    def digest(self) -> str:
        """Changes with the wording: a run is not continued in other words than it was begun in."""
        return hashlib.sha256(f"llm {self.key} {prompts.VERSION}".encode()).hexdigest()


def pen_for(starters: dict[str, str], kind: DeviceKind, language: str) -> Pen | None:
    """The first compiled language that task and device share, or the one that is asked for."""
    keys = [
        key
        for key, (spoken, kinds) in KEYS.items()
        if key in starters and kind in kinds and spoken in LANGUAGES_OF[kind]
    ]
    # Triton before plain Python where there is both: a kernel is what is wanted.
    keys.sort(key=lambda key: (KEYS[key][0] == Language.PYTHON, key == "python"))
    return next((Pen(key) for key in keys if language in ("", key, str(KEYS[key][0]))), None)
