"""The submit page: one address that shows the form, takes it, and answers with or without scripts."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.models import Submission, Task, TaskVersion
from leaderboard.selectors import options as option_selectors
from leaderboard.selectors import submissions as submission_selectors
from leaderboard.selectors import tasks as task_selectors
from leaderboard.selectors.options import Choice, SubmitOptions
from leaderboard.selectors.specs import spec_of
from leaderboard.services import submissions as submission_services
from leaderboard.services.errors import Refusal
from leaderboard.views.run import run_of
from leaderboard.views.tasks import entry_points
from runners.contract.limits import MAX_SOURCE_BYTES
from runners.contract.vocabulary import SUFFIXES, DeviceKind, Language, Mode


@dataclass(frozen=True)
class Draft:
    """What the form holds: chosen or preset values and the source text."""

    device: str
    language: str
    mode: str
    source: str = ""
    is_public: bool = False
    filename: str = ""
    upload: bytes | None = field(default=None, repr=False)


@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: HttpRequest, slug: str) -> HttpResponse:
    version = _current_version(slug)
    if request.method == "POST":
        return _take(request, version)
    options = option_selectors.submit_options(_person(request), version)
    return _page(request, version, options, _preset(request, version, options))


def _take(request: HttpRequest, version: TaskVersion) -> HttpResponse:
    user = _person(request)
    if user is None:
        return _log_in(request)
    draft = _posted(request)
    try:
        submission = submission_services.submit(
            user=user,
            task_slug=version.task.slug,
            device_slug=draft.device,
            language=draft.language,
            mode=draft.mode,
            source=draft.source if draft.upload is None else draft.upload,
            filename=draft.filename,
            is_public=draft.is_public,
        )
    except Refusal as refusal:
        return _refused(request, version, draft, refusal)
    if not _is_fragment(request):
        return redirect("submission", submission.pk)
    found = submission_selectors.get_visible(submission.pk, user)
    context = {
        "submission": found,
        "run": run_of(found, submission_selectors.queue_place(found.evaluation)),
        "may_manage": True,
        "options": option_selectors.submit_options(user, version),
        "draft": draft,
    }
    return render(request, "leaderboard/_submitted.html", context)


def _log_in(request: HttpRequest) -> HttpResponse:
    """To the log-in page, also for the page's script, which would put a redirect's target below the form."""
    answer = redirect_to_login(request.get_full_path())
    if _is_fragment(request):
        return HttpResponse(status=401, headers={"HX-Redirect": answer["Location"]})
    return answer


def _refused(request: HttpRequest, version: TaskVersion, draft: Draft, refusal: Refusal) -> HttpResponse:
    if _is_fragment(request):
        return render(request, "leaderboard/_refusal.html", {"refusal": refusal}, status=422)
    options = option_selectors.submit_options(_person(request), version)
    return _page(request, version, options, draft, refusal)


def _page(
    request: HttpRequest,
    version: TaskVersion,
    options: SubmitOptions,
    draft: Draft,
    refusal: Refusal | None = None,
) -> HttpResponse:
    statuses = {status.device.slug: status for status in options.statuses}
    kinds = {slug: status.device.kind for slug, status in statuses.items()}
    starters, spec = _starters(version), spec_of(version)
    context = {
        "task": version.task,
        "version": version,
        "options": options,
        "devices": [(choice, statuses.get(choice.value)) for choice in options.devices],
        "languages": [(choice, " ".join(SUFFIXES[Language(choice.value)])) for choice in options.languages],
        "modes": [(choice, *choice.label.split(": ", 1)) for choice in options.modes],
        "draft": draft,
        "refusal": refusal,
        "spec": spec,
        "entry_points": entry_points(spec),
        "starter_links": _starter_links(options, kinds),
        "forecasts": settings.SURROGATE and _person(request) is not None,
        "page_data": {
            "task": version.task.slug,
            "version": version.number,
            "person": str(request.user.pk or ""),
            "starters": starters,
            "kinds": kinds,
            "maxBytes": MAX_SOURCE_BYTES,
        },
    }
    return render(request, "leaderboard/submit.html", context, status=422 if refusal else 200)


def _preset(request: HttpRequest, version: TaskVersion, options: SubmitOptions) -> Draft:
    """The form before anything was typed: from the address where it says so, else the first that works."""
    original = _original(request, version)
    asked = request.GET
    device = _choose(options.devices, asked.get("device") or (original.device.slug if original else None))
    fitting = [choice for choice in options.languages if not choice.devices or device in choice.devices]
    language = _choose(fitting, original.kernel.language if original else asked.get("language"))
    mode = _choose(options.modes, asked.get("mode") or str(Mode.TEST))
    kinds = {status.device.slug: status.device.kind for status in options.statuses}
    source = original.kernel.source if original else starter(version, language, kinds.get(device, ""))
    return Draft(device, language, mode, source)


def _original(request: HttpRequest, version: TaskVersion) -> Submission | None:
    """The submission to go on from (``?from=``), if the viewer may read it and it is of this task."""
    try:
        wanted = UUID(request.GET.get("from", ""))
        found = submission_selectors.get_visible(wanted, request.user)
    except (ValueError, Submission.DoesNotExist):
        return None
    return found if found.version.task_id == version.task_id else None


def starter(version: TaskVersion, language: str, kind: str) -> str:
    """The starter of a language; on CUDA devices Python has one of its own, in Triton."""
    starters = _starters(version)
    if language == Language.PYTHON and kind == DeviceKind.CUDA:
        return starters.get("python-cuda") or starters.get("python", "")
    return starters.get(language, "")


def _starters(version: TaskVersion) -> dict[str, str]:
    return dict(version.starters) if isinstance(version.starters, dict) else {}


def _starter_links(options: SubmitOptions, kinds: dict[str, str]) -> list[dict[str, str]]:
    """Ways to another starter for browsers without scripts: one per language and device that fit."""
    return [
        {"label": f"{language.label} on {device.label}", "language": language.value, "device": device.value}
        for device in options.devices
        if device.enabled
        for language in options.languages
        if language.enabled and device.value in language.devices
    ]


def _choose(choices: list[Choice], wanted: str | None) -> str:
    enabled = [choice.value for choice in choices if choice.enabled]
    if wanted in enabled:
        return wanted
    return enabled[0] if enabled else (choices[0].value if choices else "")


def _posted(request: HttpRequest) -> Draft:
    form = request.POST
    uploaded: Any = request.FILES.get("file")
    upload = filename = None
    if uploaded is not None and uploaded.name:
        # One byte past the limit is enough for the service to refuse it; the rest is never read.
        upload, filename = uploaded.read(MAX_SOURCE_BYTES + 1), uploaded.name
    return Draft(
        device=form.get("device", ""),
        language=form.get("language", ""),
        mode=form.get("mode", ""),
        # Forms send line ends as CRLF, whatever was typed; a kernel's digest must not depend on that.
        source=form.get("source", "").replace("\r\n", "\n"),
        is_public=form.get("is_public") == "on",
        filename=filename or "",
        upload=upload,
    )


def _is_fragment(request: HttpRequest) -> bool:
    """Whether the page's own script asks and will put the answer below the form."""
    return request.headers.get("HX-Request") == "true"


def _person(request: HttpRequest) -> User | None:
    return request.user if request.user.is_authenticated else None


def _current_version(slug: str) -> TaskVersion:
    try:
        return task_selectors.current_version(task_selectors.get_task(slug))
    except (Task.DoesNotExist, TaskVersion.DoesNotExist):
        raise Http404(f"There is no task {slug!r}.") from None
