"""What the surrogate worker does: answer questions, forecast typed texts, learn from outcomes."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from runners.models import Device, Evaluation, EvaluationStatus, SpecDocument
from runners.services.evaluations import note_change
from surrogate import live
from surrogate.contract.forecast import Abstention, AbstentionReason
from surrogate.desk import Desk
from surrogate.failures import place_of
from surrogate.inquiry import SHOWN
from surrogate.models import Anchor, Question
from surrogate.requests import request_for, stored_spec
from surrogate.selectors.repeats import repeats_of
from surrogate.services import answers, bell, calibrations, guarantees, outcomes, places, questions
from surrogate.services.anchors import current_anchor
from surrogate.services.answers import Given
from surrogate.visibility import asker_of

logger = logging.getLogger(__name__)

FAILED = "The forecasters failed; the operator finds the reason in the log."
NO_ANCHOR = "Nothing is measured here yet that a forecast could be relative to."
#: The version of answers that no forecaster was asked for.
NOT_ASKED = "not asked"
_BATCH = 20
_TURN_SECONDS = 0.2
_refining = threading.Lock()
_round = threading.Lock()
_again = threading.Event()


def work_round(desk: Desk) -> None:
    """Answer all that waits, then learn from what was measured. People wait for the former only.

    One round at a time: whoever comes meanwhile has the one at work look again. One that comes between its
    last look and its end is lost, and the worker looks by itself soon after.
    """
    _again.set()
    if not _round.acquire(blocking=False):
        return
    try:
        while _again.is_set():
            _again.clear()
            _look(desk)
    finally:
        _round.release()


def _look(desk: Desk) -> None:
    bell.answered()
    waiting = list(questions.waiting(_BATCH))
    for question in waiting:
        answer_question(desk, question)
    if len(waiting) == _BATCH:
        _again.set()  # more may wait, and they go before learning
        return
    outcomes.record_missing()
    has_learned = desk.learn()
    if desk.is_record_new() or has_learned:
        records = places.records()
        calibrations.refit_due(records)
        guarantees.refit_due(records)


def answer_question(desk: Desk, question: Question) -> None:
    """Store every forecaster's answer, and have pages that show the run read it again."""
    evaluation, made_at = question.evaluation, timezone.now()
    anchor = current_anchor(spec_id=evaluation.spec_id, device_id=evaluation.device_id)
    if anchor is None:
        given = {SHOWN: answers.abstained(SHOWN, NOT_ASKED, AbstentionReason.UNSUPPORTED, NO_ANCHOR)}
    elif is_measured(evaluation):
        given = {SHOWN: answers.abstained(SHOWN, NOT_ASKED, AbstentionReason.TIMEOUT, answers.TOO_LATE)}
    else:
        given, made_at = _answers(desk, evaluation, anchor)
    if _stored(question, given, anchor, made_at):
        note_change(evaluation=evaluation)


def _stored(question: Question, given: dict[str, Given], anchor: Anchor | None, made_at: datetime) -> bool:
    """Whether this call closed the question. An answer that cannot be stored counts as none, or its question
    would be asked again for ever, before all others."""
    try:
        return answers.close(question=question, answers=given, shown=SHOWN, anchor=anchor, made_at=made_at)
    except (OperationalError, InterfaceError):
        raise  # the database is away; the question waits
    except Exception:
        logger.exception("the forecasts of evaluation %s cannot be stored", question.evaluation_id)
        return answers.close(question=question, answers=_nothing(), shown=SHOWN, anchor=anchor)


def _nothing() -> dict[str, Given]:
    return {SHOWN: answers.abstained(SHOWN, NOT_ASKED, AbstentionReason.UNAVAILABLE, FAILED)}


def _answers(desk: Desk, evaluation: Evaluation, anchor: Anchor) -> tuple[dict[str, Given], datetime]:
    """What the desk says, and when it was made.

    The slow members' part in it counts only where they answer before the measurement; else the quick ones'
    answers stand, which were made at once. An abstention where the desk fails: a question that cannot be
    answered must not be asked again and again before all others.
    """
    try:
        request = request_for(
            language=evaluation.kernel.language,
            source=evaluation.kernel.source,
            spec=stored_spec(evaluation.spec_id),
            device=evaluation.device,
            anchor=anchor,
        )
        kernel = evaluation.kernel
        asker = asker_of(evaluation.pk)
        repeats = repeats_of(language=kernel.language, source=kernel.source, anchor=anchor, asker=asker)
        inquiry = desk.inquire(request, evaluation.device_id, repeats)
        quick, made_at = inquiry.answers(), timezone.now()
        if not desk.slow_names:
            return quick, made_at
        desk.ask_slow(inquiry, desk.slow_names, lambda: is_measured(evaluation))
        return (quick, made_at) if is_measured(evaluation) else (inquiry.answers(), timezone.now())
    except (OperationalError, InterfaceError):
        raise  # the database is away; the question waits
    except Exception:
        logger.exception("evaluation %s cannot be forecast", evaluation.pk)
        return _nothing(), timezone.now()


def is_measured(evaluation: Evaluation) -> bool:
    return Evaluation.objects.filter(pk=evaluation.pk, status=EvaluationStatus.FINISHED).exists()


def answer_text(
    desk: Desk, channel: str, number: int, spec: str, device_id: int, language: str, draft: str, asker: int
) -> None:
    """A quick answer at once, and a second one with the slow members where they count for something.

    Whatever fails is logged without its message, which may quote the text.
    """
    try:
        source = live.take_draft(draft)
        if source is not None:  # else the page stopped waiting for it
            _answer_draft(desk, channel, number, spec, device_id, language, source, asker)
    except Exception as error:  # noqa: BLE001 the broker would log the message
        logger.error("a typed text cannot be forecast: %s", place_of(error))  # noqa: TRY400 as above
    else:
        return
    # Outside the handler: an error of the reply must not have the first one as its context.
    failed = Abstention(AbstentionReason.UNAVAILABLE, FAILED, SHOWN, NOT_ASKED)
    _reply(channel, number, failed, None, True)


def _answer_draft(
    desk: Desk, channel: str, number: int, spec: str, device_id: int, language: str, source: str, asker: int
) -> None:

    def is_stale() -> bool:
        return not live.is_newest(channel=channel, number=number)

    if is_stale():
        _send(channel, {"number": number, "is_dropped": True, "is_final": True})
        return
    device = Device.objects.get(pk=device_id)
    anchor = current_anchor(spec_id=spec, device_id=device_id)
    if anchor is None:
        nothing = Abstention(AbstentionReason.UNSUPPORTED, NO_ANCHOR, SHOWN, NOT_ASKED)
        _reply(channel, number, nothing, None, True)
        return
    try:
        contract = stored_spec(spec)
    except SpecDocument.DoesNotExist:
        logger.warning("a typed text names a task that does not exist")
        return
    request = request_for(language=language, source=source, spec=contract, device=device, anchor=anchor)
    slow = desk.worth_waiting_for(["local"], len(source))  # not those that cost money
    repeats = repeats_of(language=language, source=source, anchor=anchor, asker=asker)
    inquiry = desk.inquire(request, device_id, repeats)
    _reply(channel, number, inquiry.answers()[SHOWN], anchor, not slow)
    if slow and _wait_for_turn(is_stale):
        try:
            desk.ask_slow(inquiry, slow, is_stale)
        finally:
            _refining.release()
        _reply(channel, number, inquiry.answers()[SHOWN], anchor, True)


def _wait_for_turn(is_stale: Callable[[], bool]) -> bool:
    """One text at a time is read by slow members; a stale one gives its thread back to newer texts."""
    while not is_stale():
        if _refining.acquire(timeout=_TURN_SECONDS):
            return True
    return False


def _reply(
    channel: str, number: int, given: Given | Abstention, anchor: Anchor | None, is_final: bool
) -> None:
    answer = given.answer if isinstance(given, Given) else given
    message: dict[str, Any] = {
        "number": number,
        "is_final": is_final,
        "anchor_name": anchor.name if anchor else "",
        "anchor_seconds": anchor.seconds if anchor else None,
    }
    if isinstance(answer, Abstention):
        message |= {"reason": str(answer.reason), "message": answer.message}
    else:
        message["document"] = answer.to_document()
        if isinstance(given, Given) and given.calibration is not None:
            message["outcomes"] = given.calibration.outcomes
    _send(channel, message)


def _send(channel: str, message: dict[str, Any]) -> None:
    async_to_sync(get_channel_layer().send)(channel, {"type": "forecast.answer", **message})
