"""Whom a run asks: noted once at its start. Apart from the writers, which load the client of Claude's API."""

from dataclasses import dataclass

from leaderboard.search.llm.arms import Arm, cheapest, parse_arms
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import SearchRun
from surrogate.llm.config import Config

#: The journal's step that holds it.
SETUP_STEP = "setup"


@dataclass(frozen=True)
class Setup:
    """``verify`` None: nobody reads the kernels before they are measured."""

    arms: tuple[Arm, ...]
    verify: Arm | None


def setup(models: str, verifiers: str, config: Config) -> Setup:
    """Raises ValueError naming the word at fault. Without words: the site's models, the cheapest verifies."""
    arms = parse_arms(models or " ".join(config.models))
    if verifiers == "none":
        return Setup(arms, None)
    return Setup(arms, parse_arms(verifiers)[0] if verifiers else cheapest(arms))


def note_setup(*, run: SearchRun, setup: Setup) -> None:
    document = {
        "models": " ".join(arm.name for arm in setup.arms),
        "verifiers": setup.verify.name if setup.verify else "none",
    }
    JournalEntry.objects.create(run=run, step=SETUP_STEP, kind=JournalEntry.Kind.SETUP, document=document)
