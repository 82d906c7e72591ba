"""The submit page with and without scripts: what is taken, what is refused and how that is said."""

import html
import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.models import Submission
from runners.models import Device, Runner
from tests.leaderboard.conftest import PYTHON

PATH = "/tasks/double/submit/"


@pytest.fixture
def form(device: Device) -> dict[str, str]:
    return {"device": device.slug, "language": "python", "mode": "test", "source": PYTHON}


@pytest.fixture
def visitor(client: Client, owner: User, task: object, runner: Runner) -> Client:
    client.force_login(owner)
    return client


def test_a_taken_form_leads_to_the_submission(visitor: Client, form: dict[str, str]) -> None:
    response = visitor.post(PATH, form)
    submission = Submission.objects.get()
    assert response["Location"] == f"/submissions/{submission.pk}/"
    assert submission.kernel.source == PYTHON
    assert not submission.is_public


def test_the_pages_script_gets_the_live_run_and_the_new_budget(visitor: Client, form: dict[str, str]) -> None:
    response = visitor.post(PATH, form | {"is_public": "on"}, headers={"HX-Request": "true"})
    submission = Submission.objects.get()
    body = response.content.decode()
    assert submission.is_public
    assert f'id="run-{submission.pk}"' in body
    assert 'data-status="queued"' in body
    assert 'hx-swap-oob="true"' in body
    assert "<html" not in body


def test_line_ends_of_forms_do_not_make_another_kernel(visitor: Client, form: dict[str, str]) -> None:
    visitor.post(PATH, form | {"source": PYTHON.replace("\n", "\r\n")})
    assert Submission.objects.get().kernel.source == PYTHON


def test_an_uploaded_file_wins_over_the_text_area(visitor: Client, form: dict[str, str]) -> None:
    text = PYTHON + "# uploaded\n"
    visitor.post(PATH, form | {"file": SimpleUploadedFile("kernel.py", text.encode())})
    assert Submission.objects.get().kernel.source == text


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"source": ""}, "empty"),
        ({"source": "x = 1\n"}, "entry_point_missing"),
        ({"language": "cobol"}, "language_unknown"),
        ({"language": "cuda"}, "language_not_in_task"),
        ({"device": "abacus"}, "device_unknown"),
        ({"mode": "guess"}, "mode_unknown"),
        ({"file": SimpleUploadedFile("kernel.py", b"a" * 1_000_001)}, "too_large"),
        ({"file": SimpleUploadedFile("kernel.py", b"\xff\xfe")}, "not_utf8"),
        ({"file": SimpleUploadedFile("kernel.py", b"def kernel(x):\n    return \0")}, "nul_byte"),
    ],
)
def test_refusals_name_their_rule_and_keep_what_was_typed(
    visitor: Client, form: dict[str, str], change: dict[str, object], rule: str
) -> None:
    for upload in (item for item in change.values() if isinstance(item, SimpleUploadedFile)):
        upload.seek(0)
    response = visitor.post(PATH, form | change)
    body = response.content.decode()
    assert response.status_code == 422
    assert f'<span class="tag">{rule}</span>' in body
    if "source" not in change:
        assert html.escape(PYTHON.strip()) in body
    assert not Submission.objects.exists()


def test_a_refusal_names_the_line(visitor: Client, form: dict[str, str]) -> None:
    source = "def kernel(x):\n    return (\n"
    response = visitor.post(PATH, form | {"source": source}, headers={"HX-Request": "true"})
    assert response.status_code == 422
    body = response.content.decode()
    assert 'data-line="2"' in body
    assert re.findall(r"[Ll]ine \d", body) == ["Line 2"], "once, by the message"


def test_visitors_can_read_but_not_enter(client: Client, task: object, form: dict[str, str]) -> None:
    body = client.get(PATH).content.decode()
    assert "Log in to submit" in body
    assert 'id="submit-button"' not in body
    assert client.post(PATH, form)["Location"].startswith("/accounts/login/")
    answer = client.post(PATH, form, headers={"HX-Request": "true"})
    assert answer.status_code == 401
    assert answer["HX-Redirect"].startswith("/accounts/login/")


def test_what_cannot_work_is_greyed_with_its_reason(visitor: Client, gpu: Device) -> None:
    body = html.unescape(visitor.get(PATH).content.decode())
    assert "The task double takes no CUDA C++." in body
    assert "has no cases for CUDA devices" in body
    assert 'value="gpu-test" disabled' in body


@pytest.mark.parametrize("path", [PATH, "/tasks/double/"])
def test_entry_points_and_shapes_stand_together(visitor: Client, path: str) -> None:
    body = html.unescape(visitor.get(path).content.decode())
    for words in (
        'extern "C" void kernel(const float* x, float* y, int64_t n);',
        "def kernel(x):  # returns y, or takes out and writes into it",
        "<td>output</td><td><code>float32</code></td><td><code>n</code></td>",
        "An element passes when",
        "Buffers are dense and row-major.",
    ):
        assert words in body


def test_the_budget_stands_beside_the_button(visitor: Client) -> None:
    body = visitor.get(PATH).content.decode()
    assert "Budget today" in body
    assert "Refills at" in body


def test_one_can_go_on_from_what_one_may_see(
    visitor: Client, submit: Callable[..., Submission], owner: User, outsider: User
) -> None:
    mine = submit(owner, source=PYTHON + "# mine\n")
    theirs = submit(outsider, source=PYTHON + "# theirs\n")
    assert "# mine" in visitor.get(f"{PATH}?from={mine.pk}").content.decode()
    assert "# theirs" not in visitor.get(f"{PATH}?from={theirs.pk}").content.decode()
    assert visitor.get(f"{PATH}?from=x&device=y&language=z&mode=w").status_code == 200
