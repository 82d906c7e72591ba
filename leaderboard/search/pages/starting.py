"""Starting a search: one address that shows the form and takes it."""

import math
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.models import Task, TaskVersion
from leaderboard.search.pages.overview import ARMS
from leaderboard.search.pages.shared import amount, person, whole
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.selectors.starting import StartOptions, start_options
from leaderboard.search.services import runs
from leaderboard.search.services.limits import Limits
from leaderboard.search.services.runs import usual_multiple
from leaderboard.selectors import tasks
from leaderboard.services.errors import Refusal
from runners.contract.storable import storable

_USUAL = Limits()


@dataclass(frozen=True)
class Draft:
    """What the form holds, as texts: what was typed stays when it is refused."""

    generator: str
    language: str = ""
    policy: str = str(Policy.SURROGATE)
    measurements: str = str(_USUAL.measurements)
    device_seconds: str = f"{_USUAL.device_seconds:g}"
    minutes: str = f"{_USUAL.wall_seconds / 60:g}"
    tokens: str = "400000"
    money: str = "0.50"
    models: str = ""
    verifiers: str = ""
    seed: str = "0"
    is_public: bool = False
    enters_best: bool = True

    @classmethod
    def of(cls, form: QueryDict) -> "Draft":
        texts = {
            name: form.get(name, "").strip()[:400]
            for name in cls.__annotations__
            if not name.startswith(("is_", "en"))
        }
        return cls(
            **texts, is_public=form.get("is_public") == "on", enters_best=form.get("enters_best") == "on"
        )


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _take(request)
    options = _options(request, request.GET)
    enabled = [choice.value for choice in options.generators if choice.enabled]
    generator = enabled[0] if enabled else "template"
    return _page(request, options, Draft(generator=generator, device_seconds=_affordable(options)))


def _affordable(options: StartOptions) -> str:
    """The usual device seconds, or what is left of the day where that is less and pays for a measurement."""
    left = math.inf if options.budget is None else math.floor(options.budget.left)
    usual = _USUAL.device_seconds
    return f"{left if options.each_seconds <= left < usual else usual:g}"


def _take(request: HttpRequest) -> HttpResponse:
    user = person(request)
    if user is None:
        return redirect_to_login(request.get_full_path())
    form, draft = request.POST, Draft.of(request.POST)
    try:
        asks = draft.generator == "llm"
        run = runs.start(
            user=user,
            task_slug=form.get("task", ""),
            device_slug=form.get("device", ""),
            generator=draft.generator,
            language=draft.language,
            plan=_plan(draft),
            limits=Limits(
                measurements=whole(form, "measurements"),
                device_seconds=amount(form, "device_seconds"),
                wall_seconds=60 * amount(form, "minutes"),
                tokens=whole(form, "tokens") if asks else 0,
                money=amount(form, "money") if asks else 0.0,
            ),
            is_public=draft.is_public,
            enters_best=draft.enters_best,
            models=draft.models if asks else "",
            verifiers=draft.verifiers if asks else "",
        )
    except Refusal as refusal:
        return _page(request, _options(request, form), draft, refusal)
    return redirect("search", run.pk)


def _plan(draft: Draft) -> Plan:
    """Raises Refusal plan_wrong."""
    if draft.policy not in list(Policy):
        raise Refusal("plan_wrong", f"{draft.policy[:40]!r} is no arm of a search.")
    seed = whole({"seed": draft.seed}, "seed", 2**31 - 1)
    return Plan(Policy(draft.policy), seed, multiple=usual_multiple(draft.generator))


def _page(
    request: HttpRequest, options: StartOptions, draft: Draft, refusal: Refusal | None = None
) -> HttpResponse:
    context: dict[str, Any] = {
        "options": options,
        "task": options.version.task,
        "draft": draft,
        "arms": [(str(policy), *words) for policy, words in ARMS.items()],
        "refusal": refusal,
    }
    return render(request, "leaderboard/search/new.html", context, status=422 if refusal else 200)


def _options(request: HttpRequest, chosen: QueryDict) -> StartOptions:
    """Of the task that is asked for, or of the first one that can be searched. Raises Http404."""
    slug = chosen.get("task", "")
    try:
        version = tasks.current_version(tasks.get_task(storable(slug))) if slug else None
        return start_options(person(request), version, chosen.get("device", ""))
    except (Task.DoesNotExist, TaskVersion.DoesNotExist):
        missing = f"There is no task {slug[:80]!r}." if slug else "No task is loaded yet."
        raise Http404(missing) from None
