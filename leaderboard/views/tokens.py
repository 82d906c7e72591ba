"""Personal tokens of the API: made here, shown once, revoked here."""

from datetime import timedelta
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.models import ApiToken
from leaderboard.services import tokens as token_services
from leaderboard.services.errors import Refusal


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, help_text="For you alone, to tell tokens apart.")
    scopes = forms.MultipleChoiceField(
        choices=ApiToken.Scope.choices,
        initial=[ApiToken.Scope.READ, ApiToken.Scope.SUBMIT],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one: without a scope a token can do nothing."},
    )
    days = forms.TypedChoiceField(
        label="Expires",
        coerce=int,
        choices=[(30, "in 30 days"), (90, "in 90 days"), (365, "in a year"), (0, "never")],
        initial=90,
    )


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    form = TokenForm(request.POST or None)
    made: str | None = None
    if request.method == "POST" and form.is_valid():
        try:
            made = _make(user, form.cleaned_data)
            form = TokenForm()
        except Refusal as refusal:
            form.add_error(None, refusal.message)
    tokens = ApiToken.objects.filter(user=user, revoked_at__isnull=True)
    context = {"form": form, "tokens": tokens, "made": made, "now": timezone.now()}
    # Shown in the answer to the POST and nowhere else: a redirect would have to store it.
    return render(request, "leaderboard/tokens.html", context)


@login_required
@require_POST
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    user = cast(User, request.user)
    if token_services.revoke(user=user, token_id=token_id):
        messages.success(request, "The token no longer works.")
    return redirect("tokens")


def _make(user: User, data: dict[str, Any]) -> str:
    expires_at = timezone.now() + timedelta(days=data["days"]) if data["days"] else None
    _, text = token_services.create(
        user=user, name=data["name"], scopes=data["scopes"], expires_at=expires_at
    )
    return text
