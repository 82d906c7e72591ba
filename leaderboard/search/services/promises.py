"""Whom a search may ask: language models that the site has access to."""

import os

from leaderboard.search.llm.setup import Setup, setup
from leaderboard.services.errors import Refusal
from surrogate.llm.config import Config


def whom_to_ask(models: str, verifiers: str, *, money: float, tokens: int) -> Setup:
    """Raises Refusal: no_key, model_unknown, limits_wrong."""
    config = Config.from_environment(os.environ)
    if not config.has_key:
        raise Refusal("no_key", "This site has no access to a language model.")
    if not (money > 0 and tokens > 0):
        raise Refusal(
            "limits_wrong", "A search by a language model needs limits of money and tokens above 0."
        )
    try:
        return setup(models, verifiers, config)
    except ValueError as error:
        raise Refusal("model_unknown", f"Models: {error}.") from error
