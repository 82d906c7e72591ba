"""A task: what it asks for, and who is fastest on which device."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from leaderboard.models import Task, TaskVersion
from leaderboard.selectors import boards as board_selectors
from leaderboard.selectors import devices as device_selectors
from leaderboard.selectors import forecasts as forecast_selectors
from leaderboard.selectors import tasks as task_selectors
from leaderboard.selectors.specs import spec_of
from leaderboard.views.parts import opened_by_a_person
from runners.contract.entry_point import declaration
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import LANGUAGE_LABELS, WORK_LABELS, CaseRole, DeviceKind, Work
from runners.models import Device

#: Views of a board: value of ``?kernels=``, label.
FILTERS = [("", "All"), *((work, label.capitalize()) for work, label in WORK_LABELS.items())]


#: What a word behind an input's name in a case means: how it is filled, or how it lies in memory.
FILL_WORDS = {
    "uniform": "uniform from 0 to 1",
    "large": "a thousand times the usual size",
    "constant": "one value everywhere",
    "heavy": "heavy tails: a few values are far larger than the rest",
    "zeros": "zeros of either sign; the least value for whole numbers",
    "denormal": "below the smallest normal number",
    "transposed": "a view with its axes exchanged, for Python kernels only",
    "padded": "rows of a wider matrix, for Python kernels only",
    "stepped": "every other element, for Python kernels only",
}


@dataclass(frozen=True)
class EntryPoint:
    language: str
    label: str
    text: str


@dataclass(frozen=True)
class CaseRow:
    name: str
    description: str
    role: CaseRole
    bytes: int  # least bytes one call moves
    flops: int
    fits_in_cache: str  # why it may


@require_safe
def task(request: HttpRequest, slug: str) -> HttpResponse:
    version = _version(slug, request.GET.get("version"))
    spec = spec_of(version)
    devices = devices_of(spec)
    device = _device(request.GET.get("device"), devices)
    kind = DeviceKind(device.kind) if device else next(iter(spec.device_kinds))
    cases = [case for role in CaseRole for case in spec.cases_for(kind, role)]
    words = {word for case in cases for word in (*case.fills.values(), *case.layouts.values())}
    context = {
        "task": version.task,
        "version": version,
        "versions": task_selectors.versions(version.task),
        "spec": spec,
        "kind": kind,
        "entry_points": entry_points(spec),
        "cases": [_case_row(spec, case) for case in cases],
        "fill_words": [(word, told) for word, told in FILL_WORDS.items() if word in words],
        "device": device,
        "devices": devices,
        **(_board_context(request, version, device) if device else {}),
    }
    return render(request, "leaderboard/task.html", context)


@require_safe
@vary_on_headers("Accept", "HX-Request")
def board(request: HttpRequest, slug: str) -> HttpResponse:
    """The board alone, for the page that shows it to fetch anew; who opens its address gets that page."""
    if opened_by_a_person(request):
        asked = f"?{request.GET.urlencode()}" if request.GET else ""
        return redirect(f"{reverse('task', args=[slug])}{asked}#board")
    version = _version(slug, request.GET.get("version"))
    device = _device(request.GET.get("device"), devices_of(spec_of(version)))
    if device is None:
        raise Http404("There is no device for this task.")
    return render(request, "leaderboard/_board.html", _board_context(request, version, device))


def devices_of(spec: TaskSpec) -> list[Device]:
    """Devices that have cases in ``spec``: online ones first, as their boards move."""
    statuses = sorted(device_selectors.device_statuses(), key=lambda status: not status.online)
    return [status.device for status in statuses if DeviceKind(status.device.kind) in spec.device_kinds]


def entry_points(spec: TaskSpec) -> list[EntryPoint]:
    """What a submission defines, per language of the task."""
    return [
        EntryPoint(str(language), LANGUAGE_LABELS[language], declaration(spec, language))
        for language in spec.languages
    ]


def _board_context(request: HttpRequest, version: TaskVersion, device: Device) -> dict[str, Any]:
    kernels = request.GET.get("kernels", "")
    if kernels not in ("", *Work):
        raise Http404(f"{kernels!r} is no filter of a board.")
    history = board_selectors.history(version, device)
    found = board_selectors.board(version, device, request.user, kernels)
    return {
        "task": version.task,
        "version": version,
        "device": device,
        "board": found,
        "filters": FILTERS,
        "history": history,
        "pending": forecast_selectors.pending(version, device, request.user),
        "chart": {
            "points": [
                {
                    "at": point.at.timestamp() * 1000,  # milliseconds, as browsers count
                    "seconds": point.seconds,
                    "username": point.username,
                }
                for point in history
            ],
            "baselines": [
                {"label": row.baseline, "seconds": row.seconds} for row in found.rows if row.baseline
            ],
        },
    }


def _version(slug: str, number: str | None) -> TaskVersion:
    """The version asked for, or the current one. A number that is none is not found, not an error."""
    try:
        found = task_selectors.get_task(slug)
        if number is None:
            return task_selectors.current_version(found)
        if not number.isascii() or not number.isdigit() or len(number) > 9:
            raise Http404(f"{number!r} is no version number.")
        return task_selectors.get_version(found, int(number))
    except Task.DoesNotExist:
        raise Http404(f"There is no task {slug!r}.") from None
    except TaskVersion.DoesNotExist:
        raise Http404(f"The task {slug} has no such version.") from None


def _device(slug: str | None, devices: list[Device]) -> Device | None:
    if slug is None:
        return devices[0] if devices else None
    for device in devices:
        if device.slug == slug:
            return device
    raise Http404(f"There is no device {slug!r} for this task.")


def _case_row(spec: TaskSpec, case: Any) -> CaseRow:
    return CaseRow(
        case.name,
        case.describe(),
        case.role,
        spec.case_bytes(case),
        spec.case_flops(case),
        case.fits_in_cache,
    )
