"""A real site, started as people start it, and a real browser in front of it."""

import os
import re
import shutil
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.gpu.site_process import KILLED, running_site
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct-horse-battery"
#: Milliseconds until the page must show what is awaited: a machine that others use may stand still for long.
PATIENCE = 60_000
#: The same until a run has ended: it waits for those before it, and a ranked one for its audit too.
RUN = 360_000
# What a browser without a desktop needs, and nothing that would make it call home.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A refused form is answered with 422, which browsers also report as an error on their console.
EXPECTED = re.compile(r"status of 422")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
    # It takes first place, which on a board that others have entered it may not.
    items.sort(key=lambda item: item.path != here / "test_whole_way.py")


def find_chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@dataclass(frozen=True)
class Site:
    """A running site with one task, the row softmax."""

    url: str

    @property
    def task(self) -> str:
        return f"{self.url}/tasks/softmax/"

    @property
    def submit(self) -> str:
        return f"{self.url}/tasks/softmax/submit/"


@pytest.fixture(scope="session")
def chromium() -> str:
    path = find_chromium()
    if path is None:
        missing = "there is no Chromium on this machine (apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return path


@pytest.fixture(scope="package")
def site(chromium: str) -> Iterator[Site]:
    """``manage.py up`` on a free port and an empty folder; stopped the polite way, and it must obey."""
    settings = {
        "KERNELHUB_TASKS": "softmax",
        "KERNELHUB_DEVICES": "cpu",
        # No test here looks at ceilings, and none at how narrow an interval is.
        "KERNELHUB_CALIBRATE": "no",
        "KERNELHUB_TIMING_PERCENT": "5",
    }
    with running_site(**settings) as running:
        found = Site(running.address)
        try:
            # The page, not the API: that one has a limit on how often it may be asked.
            devices = f"{found.url}/devices/"
            wait_for("a runner to be online", lambda: 'class="dot online"' in _read(devices), 180)
            yield found
        finally:
            assert running.stop() != KILLED, f"the site did not stop when asked to:\n{running.words()}"


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - our own address
        return str(answer.read().decode())


# Per module, as a playwright that runs would leave its event loop set for tests that use Django's own.
@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        launched = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """A page in a context of its own. What a watched one's console reports as an error fails the test."""
    problems: list[str] = []
    contexts: list[BrowserContext] = []

    def note(kind: str, text: str) -> None:
        if not EXPECTED.search(text):
            problems.append(f"{kind}: {text}")

    def make(width: int = 1280, height: int = 900, *, watched: bool = True, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        if not watched:
            return page
        page.on("pageerror", lambda error: note("exception", str(error)))
        page.on("console", lambda message: note("console", message.text) if message.type == "error" else None)
        return page

    yield make
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def sign_up(site: Site) -> Callable[[Page], str]:
    """Makes an account through the form; returns the user name."""

    def act(page: Page) -> str:
        name = f"person-{uuid.uuid4().hex[:8]}"
        page.goto(f"{site.url}/accounts/signup/")
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password", exact=False).first.fill(PASSWORD)
        page.get_by_label("Password", exact=False).last.fill(PASSWORD)
        page.get_by_role("main").get_by_role("button", name="Sign up").click()
        page.wait_for_url(f"{site.url}/")
        return name

    return act


def set_source(page: Page, text: str) -> None:
    """Replaces what is in the editor, the way a person pastes."""
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
