"""A run's page moves by itself, survives a lost connection, and can be cancelled."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.browser.conftest import RUN, Site, set_source

GOOD = "import torch\n\n\ndef kernel(x):\n    return torch.softmax(x, dim=-1)\n"
SLEEPS = "import time\n\n\ndef kernel(x):\n    time.sleep(600)\n"


def start(page: Page, site: Site, mode: str, source: str) -> str:
    """Submits and returns the address of the submission's page."""
    page.goto(f"{site.submit}?mode={mode}")
    set_source(page, source)
    page.get_by_role("button", name="Submit").click()
    link = page.get_by_role("link", name="Page of this submission")
    return f"{site.url}{link.get_attribute('href')}"


def test_a_page_that_lost_its_socket_reads_what_it_missed(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    sign_up(page)
    # The first socket is refused, as a proxy in between might; polling and the next one must make up for it.
    refused: list[str] = []

    def handle(socket: object) -> None:
        if not refused:
            refused.append(socket.url)  # type: ignore[attr-defined]
            socket.close(code=1011)  # type: ignore[attr-defined]
        else:
            socket.connect_to_server()  # type: ignore[attr-defined]

    page.route_web_socket(re.compile(r"/ws/submissions/"), handle)
    start(page, site, "check", GOOD)
    expect(page.locator("#result .run")).to_have_attribute("data-status", "finished", timeout=RUN)
    assert refused


def test_a_page_that_was_answered_with_errors_asks_again(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page(watched=False)  # refused requests are reported on the console
    sign_up(page)
    refused: list[str] = []

    def handle(route: Route) -> None:
        # The only frame comes before the run has ended: nothing but the page's own asking can help then.
        answer = route.fetch()
        if "data-finished" in answer.text() and len(refused) > 1:
            route.fulfill(response=answer)
        else:
            refused.append(route.request.url)
            route.fulfill(status=503, body="no")

    page.route(re.compile(r"/submissions/[^/]+/live/"), handle)
    page.route_web_socket(re.compile(r"/ws/submissions/"), ring_once)
    start(page, site, "check", GOOD)
    expect(page.locator("#result .run")).to_have_attribute("data-status", "finished", timeout=RUN)
    assert len(refused) > 1


def test_the_place_in_the_queue_moves_without_a_frame(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    sign_up(page)
    page.clock.install()
    page.route_web_socket(re.compile(r"/ws/submissions/"), lambda socket: None)  # open, and silent
    page.goto(start(page, site, "test", SLEEPS))
    run = page.locator(".run")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/live/" in request.url else None)
    run.evaluate("element => element.dataset.status = 'queued'")
    page.clock.run_for(11_000)
    expect(run).to_have_attribute("data-status", "running", timeout=RUN)
    page.get_by_role("button", name="Cancel").click()
    assert asked


def ring_once(socket: WebSocketRoute) -> None:
    """Tells of one change, and then stays open and silent."""
    socket.send('{"seq": 1000000, "status": "running"}')


def test_a_run_can_be_cancelled(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    sign_up(page)
    page.goto(start(page, site, "test", SLEEPS))
    page.get_by_role("button", name="Cancel").click()
    run = page.locator(".run")
    expect(run).to_have_attribute("data-status", "finished", timeout=RUN)
    expect(run.locator(".verdict")).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_strangers_see_a_run_only_once_it_is_public(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page, stranger = open_page(), open_page()
    sign_up(page)
    address = start(page, site, "check", GOOD)
    answer = stranger.request.get(address)
    assert answer.status == 404
    page.goto(address)
    page.get_by_role("button", name="Make public").click()
    expect(page.get_by_role("button", name="Make private")).to_be_visible()
    stranger.goto(address)
    expect(stranger.locator("pre.code .line").first).to_contain_text("import torch")
    expect(stranger.get_by_role("button", name="Make private")).to_have_count(0)
