"""Dramatiq actors of the surrogate. They decide nothing, and importing them loads no forecaster."""

import dramatiq

#: Questions and learning; a ring says "there is something", not what.
QUEUE = "surrogate"
#: Texts that somebody is typing, apart so that they wait for nothing else.
LIVE_QUEUE = "surrogate_live"
#: Milliseconds after which nobody waits for a typed text's forecast any more.
LIVE_AGE = 10_000


@dramatiq.actor(queue_name=QUEUE, max_retries=0)
def work() -> None:
    """Answer what waits, learn what came."""
    from surrogate.serving import current_desk
    from surrogate.work import work_round

    work_round(current_desk())


@dramatiq.actor(queue_name=LIVE_QUEUE, max_retries=0, max_age=LIVE_AGE)
def forecast_text(
    channel: str, number: int, spec: str, device: int, language: str, draft: str, asker: int
) -> None:
    """Forecast a text that the user ``asker`` is typing, and send what comes of it to ``channel``.

    ``draft`` is where the text is, not the text: the broker logs the arguments of what it skips or fails.
    """
    from surrogate.serving import current_desk
    from surrogate.work import answer_text

    answer_text(current_desk(), channel, number, spec, device, language, draft, asker)
