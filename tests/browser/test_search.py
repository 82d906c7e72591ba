"""A search from the form to the board: started, watched by two, faster than the starter, ranked."""

import re
from collections.abc import Callable
from functools import partial

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import RUN, Site
from tests.waiting import wait_for

#: Each takes a quarter of a minute. The starter is the first, and of the two that come then one is several
#: times as fast, as they are drawn by the same seed everywhere: three show what forty would.
MEASUREMENTS = 3
#: The starter, and sixteen for each of the others: as many as the form sets where nobody chooses.
CONSIDERED = 1 + 16 * (MEASUREMENTS - 1)
#: Milliseconds that the whole search may take on a slow machine.
SEARCH = 900_000


def know_the_same(one: Locator, other: Locator) -> bool:
    """Whether two parts of the page know of the same last event."""
    return one.get_attribute("data-seq") == other.get_attribute("data-seq") != ""


def test_a_search_is_watched_live_and_its_winner_is_ranked(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page, watcher = open_page(), open_page()
    name = sign_up(page)
    page.goto(site.task)
    page.get_by_role("link", name="Search for one").click()
    model = page.get_by_role("radio", name="Language model")
    expect(model).to_be_disabled()
    expect(page.get_by_role("main")).to_contain_text("no API key is set")
    page.get_by_label("Measurements", exact=True).fill(str(MEASUREMENTS))
    page.get_by_role("checkbox", name="Public").check()
    page.get_by_role("button", name="Start the search").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Search on Row softmax")

    # Somebody without an account watches too; his first socket and his charts' first data are refused, as a
    # proxy in between might.
    refused: list[str] = []

    def handle(socket: object) -> None:
        if not refused:
            refused.append(socket.url)  # type: ignore[attr-defined]
            socket.close(code=1011)  # type: ignore[attr-defined]
        else:
            socket.connect_to_server()  # type: ignore[attr-defined]

    watcher.route_web_socket(re.compile(r"/ws/searches/"), handle)
    watcher.route(re.compile(r"/data/\?since="), lambda route: route.fulfill(status=422), times=1)
    watcher.goto(page.url)
    expect(watcher.get_by_role("button", name="Cancel")).to_have_count(0)

    for looks in (page, watcher):
        run = looks.locator(".run")
        expect(run).to_have_attribute("data-status", "finished", timeout=SEARCH)
        expect(run.locator(".verdict")).to_contain_text("the measurements are used up")
        expect(run.locator(".meters")).to_contain_text(f"{MEASUREMENTS} of {MEASUREMENTS}")
        speed = re.search(r"([\d.]+)× the starter", run.locator(".verdict").inner_text())
        assert speed is not None
        # The template's start takes about as long as the starter: whoever proposes nothing new stays below.
        assert float(speed[1]) > 2
        expect(run.locator(".meters")).to_contain_text(f"{CONSIDERED} in 2 generations")
        # The charts heard of everything without being loaded again, and so did the parts around them.
        charts = looks.locator("#progress-chart, #candidates-chart")
        for place in range(2):
            chart = charts.nth(place)
            # Of what comes after the end too: the entry of the best.
            wait_for("the chart", partial(know_the_same, chart, run), pause=0.2)
            expect(chart).to_be_visible()
        expect(looks.locator("#search-record")).to_contain_text("Steps of the best")
        steps = looks.get_by_role("region", name="Steps of the best").locator("tbody tr")
        expect(steps.first).to_contain_text("ms")
    assert refused
    page.get_by_text("device time", exact=True).click()
    expect(page.get_by_role("radio", name="device time")).to_be_checked()

    best = watcher.locator(".verdict a").first
    best.click()
    expect(watcher.get_by_role("heading", level=1)).to_contain_text("Candidate")
    expect(watcher.get_by_role("main")).not_to_contain_text("by the operator start")
    expect(watcher.get_by_role("region", name="Difference of the sources")).to_be_visible()
    watcher.get_by_role("link", name="The search").click()
    watcher.get_by_label("Kind").select_option("measured")
    watcher.get_by_role("button", name="Show").click()
    expect(watcher).to_have_url(re.compile(r"kind=measured"))
    expect(watcher.locator("#search-table tbody tr").first).to_contain_text("measured")
    watcher.get_by_role("link", name="Lineage").click()
    expect(watcher.get_by_role("heading", name="The way to the best")).to_be_visible()

    entered = page.get_by_role("link", name="entered as a ranked run")
    expect(entered).to_be_visible(timeout=60_000)
    entered.click()
    expect(page.get_by_text("machine-written").first).to_be_visible()
    submission = page.locator(".run")
    expect(submission).to_have_attribute("data-finished", "", timeout=2 * RUN)
    expect(submission.locator(".verdict")).to_contain_text("Passed", timeout=RUN)
    page.goto(site.task)
    row = page.locator("#board").get_by_role("row", name=name)
    expect(row).to_contain_text("machine-written")
    expect(row.locator("td").first).to_have_text(re.compile(r"^\d+=?$"), timeout=RUN)
