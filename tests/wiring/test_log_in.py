"""There is one way in, and it counts attempts by the visitor's own address."""

import pytest
from allauth.core.internal.httpkit import get_client_ip
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client, RequestFactory


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
