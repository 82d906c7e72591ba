"""Baselines: the task's own reference, entered on every board as a kernel like any other."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from leaderboard.models import Baseline, Submission, TaskVersion
from leaderboard.selectors.devices import runners_alive
from leaderboard.selectors.specs import spec_of
from runners.contract.vocabulary import DeviceKind, Language, Mode, Verdict
from runners.models import Device, Evaluation, EvaluationStatus, Lane
from runners.services import evaluations, kernels

#: Appended to the reference's source. The wrapper costs a call, as it would cost any submission.
_ENTRY = {
    Baseline.EAGER: "\n\ndef kernel(*inputs):\n    return reference(*inputs)\n",
    Baseline.COMPILED: "\n\nimport torch\n\nkernel = torch.compile(reference)\n",
}
#: Verdicts that say nothing about the baseline: it is measured again.
_NO_ANSWER = (Verdict.INTERNAL_ERROR, Verdict.CANCELLED, Verdict.REFUSED)


def baseline_source(reference: str, baseline: Baseline) -> str:
    """The Python submission that runs ``reference`` as it is, or compiled."""
    return reference.rstrip("\n") + "\n" + _ENTRY[baseline]


@transaction.atomic
def enqueue_missing(device: Device) -> int:
    """Queue a ranked run of each baseline that ``device`` lacks on a current version; returns how many."""
    # Two runners of one device start together: the second waits here and finds nothing missing. no_key lets
    # others go on queueing work for the device.
    Device.objects.select_for_update(no_key=True).only("pk").get(pk=device.pk)
    existing = {
        (submission.version_id, submission.baseline): submission
        for submission in Submission.objects.filter(device=device)
        .exclude(baseline="")
        .select_related("evaluation")
        .defer("evaluation__result", "evaluation__progress")
    }
    queued = 0
    current = TaskVersion.objects.filter(is_current=True, task__is_open=True).select_related("spec", "task")
    versions = [version for version in current if DeviceKind(device.kind) in spec_of(version).device_kinds]
    # All references as they are before the first compiled one: forecasts begin with them.
    for baseline in Baseline:
        for version in versions:
            spec, old = spec_of(version), existing.get((version.pk, baseline))
            if old is None or _is_void(old) or _failed_elsewhere(old, device):
                _enter(version, device, baseline, baseline_source(spec.reference, baseline), old)
                queued += 1
    return queued


def hurry(*, version: TaskVersion, device: Device) -> None:
    """Have the reference measured right after what people wait for, and no longer after all other baselines.

    Somebody works on the task: until its reference has a time, nothing on this device can be forecast.
    """
    entered = Submission.objects.filter(version=version, device=device, baseline=Baseline.EAGER)
    waiting = Evaluation.objects.filter(pk__in=entered.values("evaluation"))
    evaluations.advance(waiting=waiting, lane=Lane.SEARCH)


def enqueue_for_online_devices() -> int:
    """The same for every device that a runner serves right now: new versions of tasks were loaded."""
    online = Device.objects.filter(pk__in=list(runners_alive()), quarantine_reason="")
    return sum(enqueue_missing(device) for device in online)


def _is_void(submission: Submission) -> bool:
    evaluation = submission.evaluation
    return evaluation.status == EvaluationStatus.FINISHED and evaluation.verdict in _NO_ANSWER


def _failed_elsewhere(submission: Submission, device: Device) -> bool:
    """Whether it failed on a machine that told other facts of itself: a compiler or driver may have come.

    With the same facts it would fail again, and is left alone.
    """
    evaluation = submission.evaluation
    if evaluation.status != EvaluationStatus.FINISHED or evaluation.verdict == Verdict.PASSED:
        return False
    then: Mapping[str, Any] = (evaluation.result or {}).get("device") or {}
    return bool(then) and _comparable(then) != _comparable(device.facts)


def _comparable(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Without what tells cards of one kind apart."""
    return {name: value for name, value in facts.items() if name != "uuid"}


def _enter(
    version: TaskVersion, device: Device, baseline: Baseline, source: str, old: Submission | None
) -> None:
    evaluation = evaluations.enqueue(
        kernel=kernels.store_kernel(language=Language.PYTHON, source=source),
        spec=version.spec,
        device=device,
        mode=Mode.RANKED,
        lane=Lane.BASELINE,
    )
    if old is not None:
        Submission.objects.filter(pk=old.pk).update(evaluation=evaluation, kernel=evaluation.kernel)
        return
    Submission.objects.create(
        baseline=baseline,
        version=version,
        device=device,
        kernel=evaluation.kernel,
        mode=Mode.RANKED,
        evaluation=evaluation,
        is_public=True,
    )
