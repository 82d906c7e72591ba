"""A whole site started as people start it, and a person at its doors: form, session, token, socket."""

import contextlib
import http.cookiejar
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.ports import free_port
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
#: The exit status of a site that had to be killed: no process ends with it by itself.
KILLED = -signal.SIGKILL
_FORM_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
#: Settings of whoever starts this, which must not reach the site.
_NOT_INHERITED = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "KERNELHUB_BASELINES")


def inherited() -> dict[str, str]:
    """What of this process's environment a site of its own may have."""
    return {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}


class Site:
    """``manage.py up`` on a free port, with data in a folder of its own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = folder / "log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "up"],
                cwd=ROOT,
                env={
                    **inherited(),
                    "KERNELHUB_DATA": str(folder / "data"),
                    "HOST": "127.0.0.1",
                    "PORT": str(self.port),
                    **settings,
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def words(self) -> str:
        """The end of what its processes said."""
        return self.log.read_text(errors="replace")[-6000:]

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"the site ended with {self.process.returncode}:\n{self.words()}")
        try:
            with urllib.request.urlopen(f"{self.address}/", timeout=60) as answer:  # noqa: S310 - our own
                return b"KernelHub" in answer.read()
        except OSError:
            return False

    def stop(self, seconds: float = 60) -> int:
        """The exit status after the polite signal; KILLED when it did not obey."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return KILLED


@contextlib.contextmanager
def running_site(**settings: str) -> Iterator[Site]:
    folder = Path(tempfile.mkdtemp(prefix="kernelhub-site-"))
    site = Site(folder, **settings)
    try:
        wait_for("the site to answer", site.answers, 300)
        yield site
    finally:
        if site.process.poll() is None:
            site.stop()
        shutil.rmtree(folder, ignore_errors=True)


class Person:
    """Signs up through the form, makes a token in the session, and uses the API with the token alone."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.name = f"person-{uuid.uuid4().hex[:8]}"
        self._jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._jar))
        password = uuid.uuid4().hex
        form = {"username": self.name, "password1": password, "password2": password}
        self._post_form("/accounts/signup/", form)
        made = self._post_session("/api/v1/tokens/", {"name": "end to end", "scopes": ["read", "submit"]})
        self._token = str(made["token"])

    def get(self, path: str) -> Any:
        """The API's answer to a GET. Raises urllib.error.HTTPError."""
        return self._with_token(path, None)

    def post(self, path: str, body: Any) -> Any:
        """The API's answer to a POST of ``body`` as JSON. Raises urllib.error.HTTPError."""
        return self._with_token(path, body)

    def submit(self, **values: Any) -> dict[str, Any]:
        """Enters a kernel; a refusal comes back as ``{"error": …}``."""
        try:
            return dict(self._with_token("/api/v1/submissions/", values))
        except urllib.error.HTTPError as error:
            return dict(json.loads(error.read()))

    def page(self, path: str) -> str:
        with self._opener.open(self._site.address + path, timeout=60) as answer:
            return str(answer.read().decode())

    def first_frame(self, path: str) -> dict[str, Any]:
        """What a socket says when it is opened with this person's session."""
        return next(self.frames(path, 60))

    def frames(self, path: str, patience: float) -> Iterator[dict[str, Any]]:
        """What a socket says. Raises TimeoutError after ``patience`` seconds without a word."""
        from websockets.sync.client import connect  # only this phase needs it to be there

        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self._jar)
        address = f"ws://127.0.0.1:{self._site.port}{path}"
        origin: Any = self._site.address
        with connect(address, additional_headers={"Cookie": cookies}, origin=origin) as channel:
            while True:
                yield dict(json.loads(channel.recv(timeout=patience)))

    def _with_token(self, path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._site.address + path, data, headers)  # noqa: S310 - our own
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - our own
            return json.loads(answer.read())

    def _post_form(self, path: str, fields: dict[str, str]) -> None:
        found = _FORM_TOKEN.search(self.page(path))
        if found is None:
            raise RuntimeError(f"{path} shows no form")
        data = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": found[1]}).encode()
        with self._opener.open(self._request(path, data), timeout=60) as answer:
            if answer.url.endswith(path):
                raise RuntimeError(f"{path} was not accepted: {answer.read().decode()[-2000:]}")

    def _post_session(self, path: str, body: Any) -> dict[str, Any]:
        request = self._request(path, json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        request.add_header("X-CSRFToken", next(c.value or "" for c in self._jar if c.name == "csrftoken"))
        with self._opener.open(request, timeout=60) as answer:
            return dict(json.loads(answer.read()))

    def _request(self, path: str, data: bytes) -> urllib.request.Request:
        address = self._site.address + path
        return urllib.request.Request(address, data, {"Referer": address})  # noqa: S310 - our own
