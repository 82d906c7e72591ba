"""The home page, the devices and what stands behind a person's name."""

from typing import cast

from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.selectors import devices as device_selectors
from leaderboard.selectors import submissions as submission_selectors
from leaderboard.selectors import tasks as task_selectors
from leaderboard.selectors import users as user_selectors

#: Submissions on one page of a list.
PAGE_SIZE = 50


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboard/home.html", {"page": task_selectors.home(request.user)})


@require_safe
def device_list(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboard/devices.html", {"devices": device_selectors.device_statuses()})


@require_safe
def user_page(request: HttpRequest, username: str) -> HttpResponse:
    try:
        profile = user_selectors.profile(username, request.user)
    except get_user_model().DoesNotExist:
        raise Http404("There is no user of this name.") from None
    page = Paginator(profile.submissions, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "leaderboard/user.html", {"profile": profile, "page": page})


@login_required
@require_safe
def my_submissions(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    mine = submission_selectors.of_user(user, user)
    page = Paginator(mine, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "leaderboard/my_submissions.html", {"page": page})
