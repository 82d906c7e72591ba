"""There is one way in, and it counts attempts by the visitor's own address."""

import logging
from pathlib import Path

import pytest
import redis
from allauth.core.internal.httpkit import get_client_ip
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client, RequestFactory
from pytest_django import Settings


@pytest.mark.django_db
def test_the_admin_takes_no_passwords_of_its_own(client: Client) -> None:
    User.objects.create_superuser("chief", password="chief-password")
    form = {"username": "chief", "password": "chief-password", "next": "/admin/"}
    for answer in (client.get("/admin/login/"), client.post("/admin/login/", form), client.get("/admin/")):
        assert answer.status_code == 302
    assert client.get("/admin/login/")["Location"].startswith("/accounts/login/?next=")
    assert "_auth_user_id" not in client.session


@pytest.mark.django_db
def test_who_is_no_staff_is_told_so(client: Client) -> None:
    client.force_login(User.objects.create_user("somebody"))
    assert client.get("/admin/login/").status_code == 403


def test_allauth_trusts_as_many_proxies_as_the_site() -> None:
    assert settings.ALLAUTH_TRUSTED_PROXY_COUNT == settings.NUM_PROXIES == 0
    forged = RequestFactory().get("/", headers={"X-Forwarded-For": "203.0.113.9"})
    assert get_client_ip(forged) == "127.0.0.1"


@pytest.mark.django_db
def test_people_can_log_in_while_redis_is_away(
    client: Client, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    User.objects.create_user("somebody", password="a-password-of-hers")
    nowhere = {**settings.CACHES["default"], "LOCATION": f"unix://{tmp_path}/redis.sock"}
    settings.CACHES = {"default": nowhere}
    with caplog.at_level(logging.WARNING, "kernelhub"):
        wrong = client.post("/accounts/login/", {"login": "somebody", "password": "another"})
        right = client.post("/accounts/login/", {"login": "somebody", "password": "a-password-of-hers"})
    assert (wrong.status_code, right.status_code) == (200, 302)
    assert "_auth_user_id" in client.session
    told = [record for record in caplog.records if record.name == "kernelhub.forgiving_cache"]
    assert len(told) == 1
    with pytest.raises(redis.exceptions.ConnectionError):
        cache.get("no-rate")


@pytest.mark.django_db
def test_wrong_passwords_are_counted_while_redis_is_there(client: Client) -> None:
    User.objects.create_user("somebody-else", password="a-password-of-hers")
    form = {"login": "somebody-else", "password": "another"}
    answers = [client.post("/accounts/login/", form).content.decode() for _ in range(6)]
    assert "Too many failed" not in answers[0]
    assert "Too many failed" in answers[-1]
