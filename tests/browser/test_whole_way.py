"""The whole way: sign up, submit, be measured, be ranked; and be told why a wrong kernel is wrong."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, RUN, Site, set_source

SOFTMAX = ROOT / "leaderboard" / "catalog" / "softmax"


def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def submit(page: Page, site: Site, mode: str, text: str) -> None:
    page.goto(site.submit)
    page.get_by_role("radio", name="C++", exact=True).check()
    page.locator(f"input[name=mode][value={mode}]").check()
    set_source(page, text)
    page.get_by_role("button", name="Submit").click()


def test_a_good_kernel_is_ranked_above_the_reference_and_a_wrong_one_explained(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    name = sign_up(page)

    # Records on the home page lead to the task as well, once there are any.
    page.get_by_role("rowheader").get_by_role("link", name="Row softmax").click()
    page.get_by_role("link", name="Write a kernel").click()
    expect(page).to_have_url(f"{site.submit}?device=" + page.url.split("device=")[1])

    # Someone else looks at the board from before the run, and must see it move without a reload.
    board = open_page()
    board.goto(site.task)
    expect(board.get_by_role("row", name=name)).to_have_count(0)

    submit(page, site, "ranked", source(SOFTMAX / "good" / "fused_rows.cpp"))
    run = page.locator("#result .run")
    expect(run).to_have_attribute("data-status", "finished", timeout=RUN)
    expect(run.locator(".verdict")).to_contain_text("Passed", timeout=RUN)
    expect(run.locator(".verdict")).to_contain_text("Being audited")
    times = run.get_by_role("table").filter(has_text="Time of a call")
    expect(times.locator("tbody tr")).to_have_count(3)
    expect(times.locator("tbody tr").first).to_contain_text("±")

    expect(board.locator("#board").get_by_role("row", name=name)).to_be_visible(timeout=20_000)
    expect(board.get_by_role("row", name="Reference, eager")).to_be_visible(timeout=RUN)
    # No rank before a second run with new inputs agreed; then without a reload.
    mine = board.locator("#board").get_by_role("row", name=name)
    expect(mine.locator("td").first).to_have_text(re.compile(r"^1=?$"), timeout=RUN)
    expect(run.locator(".verdict")).not_to_contain_text("Being audited")
    entrants = board.locator("#board .rank tbody th").all_inner_texts()
    assert entrants.index(name) < entrants.index("Reference, eager")
    expect(mine).to_contain_text("×")
    expect(board.locator("canvas")).to_be_visible()

    submit(page, site, "test", source(SOFTMAX / "wrong" / "tail_left_out.cpp"))
    expect(run).to_have_attribute("data-status", "finished", timeout=RUN)
    expect(run.locator(".verdict")).to_contain_text("Wrong result")
    failure = run.locator(".failed-case").first
    for words in ("Failed case:", "cols=", "Worst element", "Got", "Want", "Tolerance"):
        expect(failure).to_contain_text(words)
    expect(page.get_by_role("link", name="Page of this submission")).to_be_visible()
