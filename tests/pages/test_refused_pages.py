"""Pages that say no: what is missing, who may, and what to do."""

from collections.abc import Callable
from urllib.parse import quote

from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import Submission


def test_refused_pages_say_what_is_missing_or_who_may(
    client: Client, submit: Callable[..., Submission], owner: User, outsider: User
) -> None:
    public, private = submit(owner, is_public=True), submit(owner)
    for path, words in (
        ("/tasks/double/?device=none", "There is no device &#x27;none&#x27; for this task."),
        ("/tasks/none/", "There is no task &#x27;none&#x27;."),
        ("/nothing/", "There is nothing at this address, or it is not yours to see."),
        (f"/submissions/{private.pk}/", "There is no such submission, or it is not yours to see."),
    ):
        body = client.get(path).content.decode()
        assert f"<p>{words}</p>" in body
        log_in = f'<a href="/accounts/login/?next={quote(path)}">Log in</a> if it is yours'
        assert (log_in in body) == ("yours" in words)
    client.force_login(outsider)
    assert "Log in" not in client.get("/nothing/").content.decode()
    refused = client.post(f"/submissions/{public.pk}/visibility/")
    assert refused.status_code == 403
    assert "<p>Only its owner and staff may change a submission.</p>" in refused.content.decode()
