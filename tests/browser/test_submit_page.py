"""The submit page by keyboard, by mouse, by file and without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import RUN, Site, set_source

GOOD = "import torch\n\n\ndef kernel(x):\n    return torch.softmax(x, dim=-1)\n"


def test_everything_can_be_done_by_keyboard(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    sign_up(page)
    page.goto(site.submit)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, ".cm-content")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(GOOD)
    page.keyboard.press("Escape")  # then Tab leaves the editor instead of indenting
    tab_to(page, "input[name=device]")
    tab_to(page, "input[name=language]")
    tab_to(page, "input[name=mode]")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("radio", name="Check")).to_be_checked()
    tab_to(page, "#submit-button")
    page.keyboard.press("Enter")
    expect(page.locator("#result .run")).to_have_attribute("data-status", "finished", timeout=RUN)
    expect(page.locator("#result .verdict")).to_contain_text("Passed", timeout=RUN)
    expect(page.locator("[data-live-announce]")).to_contain_text("Passed", timeout=RUN)


def test_control_enter_in_the_editor_submits_and_the_result_leads_on(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    sign_up(page)
    page.goto(f"{site.submit}?mode=check")
    page.route(site.submit, told_anew)
    set_source(page, GOOD)
    page.keyboard.press("ControlOrMeta+Enter")
    run = page.locator("#result .run")
    expect(run).to_have_attribute("data-status", "finished", timeout=RUN)
    expect(page.locator("#budgets")).to_contain_text("Budget of now")  # it came with the result
    expect(page.locator("input[name=mode][value=check]")).to_be_checked()
    page.get_by_role("link", name="Choose Test to run every test case, or Ranked").click()
    expect(page.locator("input[name=mode][value=ranked]")).to_be_checked()
    expect(run).to_be_visible()  # the page and its text stayed


def told_anew(route: Route) -> None:
    """The page as the server tells it when it is asked once more, with a word that shows which one it is."""
    if route.request.method != "GET":
        route.continue_()
        return
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace("Budget today", "Budget of now"))


def test_a_refusal_names_rule_and_line_and_the_editor_goes_there(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    sign_up(page)
    page.goto(site.submit)
    set_source(page, "import torch\n\ndef kernel(x):\n    return (\n")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("Line 4:")
    expect(page.get_by_role("alert")).to_contain_text("syntax_error")
    expect(page.get_by_role("alert")).to_be_in_viewport(ratio=1)
    expect(page.locator(".cm-error-line")).to_have_count(1)
    expect(page.locator(".cm-content")).to_be_focused()


def test_a_draft_survives_a_reload_and_other_languages_keep_their_own(
    site: Site, open_page: Callable[..., Page]
) -> None:
    page = open_page()
    page.goto(site.submit)
    set_source(page, "# my draft\n")
    expect(page.locator("#draft-status")).to_contain_text("saved")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("# my draft")
    page.get_by_role("radio", name="C++", exact=True).check()
    expect(page.locator(".cm-content")).to_contain_text('extern "C"')
    page.get_by_role("radio", name="Python").check()
    expect(page.locator(".cm-content")).to_contain_text("# my draft")
    page.get_by_role("button", name="Reset to starter").click()
    expect(page.locator(".cm-content")).to_contain_text("def kernel")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("def kernel")


def test_a_draft_is_kept_by_who_logs_in_and_not_shown_to_who_comes_after(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    page.goto(site.submit)
    set_source(page, "# before I had an account\n")
    expect(page.locator("#draft-status")).to_contain_text("saved")
    sign_up(page)
    page.goto(site.submit)
    expect(page.locator(".cm-content")).to_contain_text("# before I had an account")
    set_source(page, "# mine\n")
    expect(page.locator("#draft-status")).to_contain_text("saved")
    page.get_by_role("button", name="Log out").click()
    for somebody_else in (False, True):
        if somebody_else:
            sign_up(page)
        page.goto(site.submit)
        expect(page.locator(".cm-content")).to_contain_text("def kernel")


def test_the_entry_point_of_the_chosen_language_stands_above_the_editor(
    site: Site, open_page: Callable[..., Page]
) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(site.submit)
    shown = page.locator("[data-entry]:visible")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("def kernel(x)")
    page.get_by_role("radio", name="C++", exact=True).check()
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text('extern "C" void kernel')
    below = page.locator("#source").bounding_box()
    above = shown.bounding_box()
    assert above
    assert below
    assert above["y"] < below["y"]
    expect(page.get_by_text("An element passes when")).to_be_hidden()
    page.get_by_text("Inputs, outputs and what counts as right").click()
    expect(page.get_by_text("An element passes when")).to_be_visible()


def test_a_file_is_read_into_the_editor_and_chooses_its_language(
    site: Site, open_page: Callable[..., Page]
) -> None:
    page = open_page()
    page.goto(site.submit)
    field = page.locator("#file")
    text = b"// from a file\r\nint x;\r\n"
    field.set_input_files({"name": "fast.cpp", "mimeType": "text/plain", "buffer": text})
    expect(page.locator(".cm-content")).to_contain_text("// from a file")
    expect(page.get_by_role("radio", name="C++", exact=True)).to_be_checked()
    field.set_input_files({"name": "odd.py", "mimeType": "text/plain", "buffer": b"\xff\xfe\x00"})
    expect(page.locator("#draft-status")).to_contain_text("not UTF-8")
    expect(page.locator(".cm-content")).to_contain_text("// from a file")


def test_what_does_not_run_here_is_greyed_and_says_why(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.goto(site.submit)
    choice = page.locator("label", has=page.locator("input[name=language][value=cuda]"))
    expect(choice.locator("input")).to_be_disabled()
    expect(choice.locator("small")).to_contain_text("No open device runs CUDA C++")


@pytest.mark.parametrize("mode", ["check"])
def test_the_form_works_without_scripts(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str], mode: str
) -> None:
    page = open_page(java_script_enabled=False)
    sign_up(page)
    page.goto(f"{site.submit}?mode={mode}")
    page.get_by_label("Source", exact=True).fill(GOOD)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*/")
    # The page then asks again by itself, every few seconds, until the run has ended.
    expect(page.locator(".verdict")).to_contain_text("Passed", timeout=RUN)


def tab_to(page: Page, selector: str, most: int = 30) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{most} times Tab did not reach {selector}")
