"""Requests that no browser sends are told so; a site that is busy says that, not that it broke."""

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import include, path
from psycopg_pool import PoolTimeout

FORM = "application/x-www-form-urlencoded"
handler500 = "kernelhub.server_errors.server_error"


def exhausted(request: HttpRequest) -> HttpResponse:
    with connection.wrap_database_errors:
        raise PoolTimeout("couldn't get a connection after 10.00 sec")


def broken(request: HttpRequest) -> HttpResponse:
    raise ValueError


urlpatterns = [path("exhausted/", exhausted), path("broken/", broken), path("", include("kernelhub.urls"))]


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["hex", "rot13", "utf-16", "utf-7", '"base64"', ""])
@pytest.mark.parametrize("kind", [FORM, "multipart/form-data; boundary=x"])
def test_forms_in_any_other_charset_are_refused(client: Client, kind: str, charset: str) -> None:
    for address in ("/accounts/login/", "/api/v1/submissions/"):
        answer = client.generic("POST", address, b"login=61", f"{kind}; charset={charset}")
        assert answer.status_code == 400
        assert b"charset" in answer.content


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf-8"'])
def test_forms_in_utf8_are_read(client: Client, charset: str) -> None:
    form = b"login=nobody&password=x"
    assert client.post("/accounts/login/", form, content_type=f"{FORM}; charset={charset}").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["login/", "login/callback/"])
def test_there_is_no_way_in_by_github_where_none_is_set_up(client: Client, address: str) -> None:
    assert client.get(f"/accounts/github/{address}").status_code == 404


@override_settings(ROOT_URLCONF=__name__)
def test_a_page_without_a_free_connection_says_when_to_come_back() -> None:
    client = Client(raise_request_exception=False)
    answer = client.get("/exhausted/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert b"busy" in answer.content
    assert client.get("/broken/").status_code == 500


def test_the_site_itself_answers_so() -> None:
    from kernelhub import urls

    assert urls.handler500 == handler500
