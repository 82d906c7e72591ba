"""The innovation archive of a durable run: which rows it shows, and to whom, and what they were worth."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.models import Score, Standing, Submission, TaskVersion
from leaderboard.search.llm import writers
from leaderboard.search.llm.book import Book
from leaderboard.search.llm.models import ExampleUse
from leaderboard.search.llm.pens import Pen
from leaderboard.search.llm.records import uses_over_runs
from leaderboard.search.llm.writers import library_of, still_shared
from leaderboard.search.models import SearchRun
from leaderboard.search.services import outcomes
from leaderboard.services import submissions, tasks
from runners.models import Device, Runner
from runners.services import evaluations
from tests.fake_claude import FakeClaude
from tests.search_llm.conftest import kernel, purpose
from tests.search_llm.test_runs import access, finish_all, start, stepper_of  # noqa: F401  fixtures
from tests.search_llm.test_search import Author

pytestmark = pytest.mark.django_db(transaction=True)
Start = Callable[..., SearchRun]


@pytest.fixture
def outsider(db: None) -> User:
    return User.objects.create_user("outsider")


def ranked(
    user: User, device: Device, runner: Runner, name: str, *, is_public: bool = True, speed: int = 1
) -> Submission:
    """A submission that passed, as the board has it."""
    submission = submissions.submit(
        user=user,
        task_slug="softmax",
        device_slug=device.slug,
        language="cpp",
        mode="ranked",
        source=kernel(name, speed),
        is_public=is_public,
    )
    evaluation = evaluations.claim_next(queue=device.slug, runner=runner)
    assert evaluation is not None
    seconds = 8e-3 / speed
    score = {"seconds": seconds, "ci_low": seconds, "ci_high": seconds, "roofline": None}
    result = {"verdict": "passed", "reason": "", "device_seconds": 1.0, "benchmarks": [], "score": score}
    assert evaluations.finish(evaluation=evaluation, result=result)
    Score.objects.filter(submission=submission).update(standing=Standing.RANKED)
    return submission


def cancel_audits() -> None:
    """Of whoever leads: what is claimed next is a run's own."""
    for evaluation in list(evaluations.Evaluation.objects.exclude(status="finished")):
        evaluations.request_cancel(evaluation=evaluation)


def test_only_public_ranked_kernels_in_the_language_are_shown(
    start: Start,  # noqa: F811
    version: TaskVersion,
    device: Device,
    runner: Runner,
    owner: User,
    outsider: User,
) -> None:
    shown = ranked(outsider, device, runner, "public_one", speed=3)
    ranked(outsider, device, runner, "of_another", is_public=False)
    ranked(owner, device, runner, "the_owners_own", is_public=False)  # others may watch the run
    held = ranked(outsider, device, runner, "held_for_review")
    Score.objects.filter(submission=held).update(standing=Standing.HELD)
    run = start()
    (example,) = library_of(run, Pen("cpp"))
    assert (example.key, example.task) == (str(shown.pk), "softmax")
    assert example.kernel.source == kernel("public_one", 3)
    assert "2667 µs on a test CPU" in example.note
    assert "def reference" in example.reference
    assert library_of(run, Pen("python")) == []
    # What is made private later is not shown any more.
    submissions.set_visibility(user=outsider, submission=shown, is_public=False)
    assert library_of(run, Pen("cpp")) == []


def test_the_best_of_every_task_are_looked_through_however_many_a_task_has(
    start: Start,  # noqa: F811
    version: TaskVersion,
    device: Device,
    runner: Runner,
    outsider: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def entered(name: str, speed: int) -> Submission:
        submission = ranked(outsider, device, runner, name, speed=speed)
        cancel_audits()
        return submission

    monkeypatch.setattr(writers, "_MOST_OF_A_BOARD", 2)
    first = entered("first", 3)
    tasks.load_task(source=load(CATALOG / "sum"))
    other = TaskVersion.objects.get(task__slug="sum", is_current=True)
    Score.objects.filter(submission=first).update(version=other)  # the oldest, of a task with no other
    for speed in (9, 5, 7):
        entered(f"of_{speed}", speed)
    reference = entered("reference", 1)
    Score.objects.filter(submission=reference).update(baseline="eager", seconds=8e-3)
    examples = library_of(start(), Pen("cpp"))
    assert [(item.task, item.note.split()[0]) for item in examples] == [
        ("softmax", "888.9"),
        ("sum", "2667"),
        ("softmax", "1143"),
    ]
    assert [item.gain for item in examples] == pytest.approx([math.log2(9), 0, math.log2(7)])


def test_a_run_shows_them_and_keeps_count_of_what_they_were_worth(
    start: Start,  # noqa: F811
    version: TaskVersion,
    device: Device,
    runner: Runner,
    outsider: User,
    server: FakeClaude,
) -> None:
    shown = ranked(outsider, device, runner, "public_one", speed=3)
    cancel_audits()
    server.responder = Author()
    run = start(measurements=4)
    stepper = stepper_of(run, server)
    while stepper.step():
        finish_all(runner, device)
    prompts = [body["messages"][0]["content"][0]["text"] for body in server.bodies if purpose(body) != "form"]
    assert any("static float public_one" in prompt for prompt in prompts)
    asked = run.llm_entries.filter(kind="asked", document__examples__contains=[str(shown.pk)])
    assert asked.exists(), "the journal tells which examples a kernel was written after"
    generator = stepper_of(run, server)._writer.generator(run, Pen("cpp"))  # type: ignore[union-attr]
    use = Book(generator.journal).uses(generator.outcomes)[str(shown.pk)]
    written = run.llm_entries.filter(kind="used", document__fault="", step__in=asked.values("step"))
    assert use.shown == written.count() > 0, "another process counts the same"
    assert use.helped <= use.shown
    # Over all runs, once per measured kernel, whoever tells of it again.
    assert uses_over_runs([str(shown.pk)]) == {str(shown.pk): use}
    for evaluation in evaluations.Evaluation.objects.all():
        outcomes.record(evaluation=evaluation)
    assert uses_over_runs([str(shown.pk)]) == {str(shown.pk): use}
    server.responder = Author()
    later = start(measurements=3)
    stepper = stepper_of(later, server)
    while stepper.step():
        finish_all(runner, device)
    assert uses_over_runs([str(shown.pk)])[str(shown.pk)].shown > use.shown


def test_a_kernel_that_its_author_withdraws_is_in_no_prompt_from_then_on(
    start: Start,  # noqa: F811
    version: TaskVersion,
    device: Device,
    runner: Runner,
    outsider: User,
    server: FakeClaude,
) -> None:
    """In a process that has known it since the run began."""
    shown = ranked(outsider, device, runner, "public_one", speed=3)
    cancel_audits()
    server.responder = Author()
    stepper = stepper_of(start(measurements=8), server)
    for _ in range(2):
        assert stepper.step()
        finish_all(runner, device)
    assert any("public_one" in text for text in texts_of(server))
    submissions.set_visibility(user=outsider, submission=shown, is_public=False)
    known = len(server.requests)
    while stepper.step():
        finish_all(runner, device)
    assert len(server.requests) > known
    assert not any("public_one" in text for text in texts_of(server)[known:])


def test_what_has_left_the_board_is_not_shown_either(
    start: Start,  # noqa: F811
    version: TaskVersion,
    device: Device,
    runner: Runner,
    outsider: User,
    django_assert_num_queries: Callable[..., Any],
) -> None:
    entered = []
    for name in ("kept", "held", "gone"):
        entered.append(ranked(outsider, device, runner, name))
        cancel_audits()
    kept, held, gone = entered
    run = start()
    library = library_of(run, Pen("cpp"))
    assert len(library) == 3
    Score.objects.filter(submission=held).update(standing=Standing.HELD)
    Score.objects.filter(submission=gone).delete()
    with django_assert_num_queries(1):
        assert [item.key for item in still_shared(run, Pen("cpp"), library)] == [str(kept.pk)]
    assert still_shared(run, Pen("cpp"), []) == []


def texts_of(server: FakeClaude) -> list[str]:
    return ["".join(block["text"] for block in body["messages"][0]["content"]) for body in server.bodies]


def test_a_later_run_is_shown_what_helped_in_earlier_ones(
    start: Start,  # noqa: F811
    version: TaskVersion,
    device: Device,
    runner: Runner,
    outsider: User,
    server: FakeClaude,
) -> None:
    """Two examples as like as twins: one of them is shown, and which one earlier runs have taught."""
    twins = []
    for name in ("one_way", "another"):
        twins.append(str(ranked(outsider, device, runner, name, speed=3).pk))
        cancel_audits()
    for useless, helpful in (twins, twins[::-1]):
        ExampleUse.objects.all().delete()
        ExampleUse.objects.create(key=useless, shown=20, helped=0)
        ExampleUse.objects.create(key=helpful, shown=20, helped=20)
        server.responder = Author()
        run = start(measurements=2)
        stepper = stepper_of(run, server)
        while stepper.step():
            finish_all(runner, device)
        asked = run.llm_entries.filter(kind="asked").values_list("document__examples", flat=True)
        assert {key for keys in asked for key in keys or []} == {helpful}
