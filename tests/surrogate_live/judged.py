"""Stored forecasts with their outcomes, as if a site had run for a while."""

from random import Random

from django.utils import timezone

from runners.contract.vocabulary import Language, Mode
from runners.models import Evaluation, EvaluationStatus, Lane
from runners.services.kernels import store_kernel
from surrogate.contract import bins
from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.models import Anchor, Outcome, Question
from surrogate.services import answers
from surrogate.services.answers import Given

_WORDS = ("load", "store", "sum", "tile", "warp", "lane", "row", "block", "fused", "scale", "mask", "tail")


def unlike(draw: Random) -> str:
    """A source that shares few token runs with any other such."""
    return "\n".join(f"{draw.choice(_WORDS)}_{draw.randrange(10**6)}()" for _ in range(12))


def judge_one(
    anchor: Anchor,
    guesses: dict[str, float],
    truth: float,
    *,
    source: str,
    version: str = "1",
    spread: float = 0.15,
    incumbent_seconds: float | None = None,
) -> None:
    """One kernel that was forecast by some and then measured; guesses and truth are log2 speed-ups."""
    question = ask_one(anchor, source, incumbent_seconds)
    given = {}
    for name, guess in guesses.items():
        forecast = ContractForecast.of(bins.normal(guess, spread), forecaster=name, version=version)
        given[name] = Given(forecast, forecast.probabilities)
    assert answers.close(question=question, answers=given, shown=next(iter(guesses)), anchor=anchor)
    Evaluation.objects.filter(pk=question.evaluation_id).update(
        status=EvaluationStatus.FINISHED, verdict="passed", finished_at=timezone.now()
    )
    Outcome.objects.create(
        evaluation=question.evaluation,
        anchor=anchor,
        is_correct=True,
        seconds=anchor.seconds / 2**truth,
        log2_ratio=truth,
    )


def ask_one(anchor: Anchor, source: str, incumbent_seconds: float | None = None) -> Question:
    """A kernel that waits for its forecast and for its measurement."""
    evaluation = Evaluation.objects.create(
        kernel=store_kernel(language=Language.PYTHON, source=source),
        spec=anchor.spec,
        device=anchor.device,
        mode=Mode.RANKED,
        queue=anchor.device.slug,
        lane=Lane.PERSON,
    )
    return Question.objects.create(evaluation=evaluation, incumbent_seconds=incumbent_seconds)


def judge(anchor: Anchor, count: int, *, seed: int = 0, version: str = "1") -> None:
    """Forecasts of a member that knows and of one that does not, both too sure by half, with outcomes."""
    draw = Random(seed)
    for _ in range(count):
        truth = draw.gauss(0, 1)
        guesses = {"statistical": truth + draw.gauss(0, 0.4), "prior": draw.gauss(0, 1)}
        judge_one(anchor, guesses, truth, source=unlike(draw), version=version)
