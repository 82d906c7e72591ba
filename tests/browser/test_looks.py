"""Every page at phone width and wide, light and dark: nothing scrolls sideways, nothing breaks the policy."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site

NAMELESS = """() => {
    const named = (item) => item.textContent.trim() || item.getAttribute("aria-label") || item.labels?.length;
    return [...document.querySelectorAll("button, a[href], input:not([type=hidden]), select, textarea")]
        .filter((item) => item.checkVisibility() && !named(item))
        .map((item) => item.outerHTML);
}"""
PATHS = [
    "/",
    "/devices/",
    "/surrogate/",
    "/searches/",
    "/searches/new/",
    "/tasks/softmax/",
    "/tasks/softmax/submit/",
    "/submissions/",
    "/settings/tokens/",
    "/accounts/login/",
    "/accounts/signup/",
]


@pytest.mark.parametrize("width", [360, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_scrolls_sideways(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str], width: int, scheme: str
) -> None:
    page = open_page(width=width, color_scheme=scheme)
    name = sign_up(page)
    for path in [*PATHS[:-2], f"/users/{name}/"]:
        page.goto(f"{site.url}{path}")
        over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert over <= 0, f"{path} is {over} px too wide"
        dark = page.evaluate(
            "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/)[0] < 128"
        )
        assert dark == (scheme == "dark"), path
        expect(page.locator("h1")).to_have_count(1)


def test_the_table_of_tasks_shows_all_its_columns_on_a_laptop(
    site: Site, open_page: Callable[..., Page]
) -> None:
    page = open_page(width=1280)
    page.goto(site.url)
    # About the widest that a row is likely to be.
    cells = [
        "<th scope=row>Cross-entropy loss</th>",
        "<td class=n>12.34\u202fms</td>",
        "<td>reference, torch.compile</td>",
        "<td class=wide-only>Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, 1 core</td>",
        "<td class='n wide-only'>12</td>",
    ]
    page.evaluate(
        "row => document.querySelector('.leaders tbody').innerHTML = row", f"<tr>{''.join(cells)}</tr>"
    )
    over = page.evaluate("(box => box.scrollWidth - box.clientWidth)(document.querySelector('.leaders'))")
    assert over <= 0, f"the table is {over} px too wide"


@pytest.mark.parametrize("scripts", [True, False])
def test_on_a_phone_the_header_takes_two_lines_and_opens_by_keyboard(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str], scripts: bool
) -> None:
    page = open_page(width=360)
    page.goto(site.url)
    assert header_lines(page) == 2
    name = sign_up(page)
    page = open_page(
        width=360, java_script_enabled=scripts, storage_state=page.context.storage_state(), watched=scripts
    )
    page.goto(site.url)
    assert header_lines(page) == 2
    mine = page.get_by_role("link", name="My submissions")
    expect(page.get_by_role("link", name="Surrogate")).to_be_visible()
    expect(mine).to_be_hidden()
    page.locator("summary", has_text=name).focus()
    page.keyboard.press("Enter")
    expect(mine).to_be_visible()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def header_lines(page: Page) -> int:
    height, line = page.evaluate(
        "['header', '.brand'].map((name) => document.querySelector(name).getBoundingClientRect().height)"
    )
    return round((height - 10) / line)  # less what the header keeps free above and below


def test_on_a_phone_the_times_of_the_tasks_are_in_sight(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(width=360)
    page.goto(site.url)
    # About the widest that a row is likely to be.
    device = "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, 1 core"
    cells = [
        "<th scope=row>Cross-entropy loss</th>",
        "<td class=n>123.4\u202fms</td>",
        f"<td>a-rather-long-user-name-of-40-characters<small class=narrow-only>{device}</small></td>",
        f"<td class=wide-only>{device}</td>",
        "<td class='n wide-only'>12</td>",
    ]
    page.evaluate(
        "row => document.querySelector('.leaders tbody').innerHTML = row", f"<tr>{''.join(cells)}</tr>"
    )
    right = page.evaluate("document.querySelector('.leaders td.n').getBoundingClientRect().right")
    assert right < 300
    over = page.evaluate("(box => box.scrollWidth - box.clientWidth)(document.querySelector('.leaders'))")
    assert over <= 0, f"the table is {over} px too wide"


#: Sentences in tables that are not wholly inside the box of their table, or of the window, as it first shows.
CUT_OFF = """() => [...document.querySelectorAll("td.empty, td.told > span")].filter((item) => {
    const box = item.closest(".table-box").getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(item);
    const text = range.getBoundingClientRect();
    return text.width === 0 || text.left < box.left || text.right > Math.min(box.right, innerWidth);
}).map((item) => item.textContent)"""


def test_on_a_phone_a_sentence_in_a_table_is_wholly_in_sight(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page(width=360)
    name = sign_up(page)
    for path in ("/submissions/", "/searches/?whose=mine", f"/users/{name}/"):
        page.goto(f"{site.url}{path}")
        expect(page.locator("td.empty").first).to_be_visible()
        assert page.evaluate(CUT_OFF) == [], path
    page.goto(f"{site.url}/surrogate/")
    # About the longest, on a device of a long name.
    page.evaluate(
        """() => {
            const row = document.querySelector(".table-box tbody tr");
            const name = "<th scope=row>Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, 1 core</th>";
            const words = "At least 41 more kernels, unlike the others, must be judged first. ".repeat(3);
            row.innerHTML = `${name}<td colspan=6 class=told><span>${words}</span></td>`;
        }"""
    )
    assert page.evaluate(CUT_OFF) == []


def test_on_a_phone_the_state_of_a_search_is_in_sight(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(width=360)
    page.goto(f"{site.url}/searches/")
    # A row as search/index.html writes it, with about the longest state.
    page.evaluate(
        """() => {
            const state = "<span>ended: the device seconds are used up</span>";
            document.querySelector(".table-box tbody").innerHTML =
                `<tr><th scope=row><a href="#">2D convolution, bias, ReLU</a> <small>v1</small>
                <small class=narrow-only>${state}</small></th><td class=n>12.34 ms</td><td class=n>12.3×</td>
                <td class=wide-only>${state}</td></tr>`;
        }"""
    )
    shown = page.get_by_text("the device seconds are used up").locator("visible=true")
    expect(shown).to_have_count(1)
    cell = page.locator("tbody th")
    assert cell.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth")
    box = shown.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] < 300


def test_ages_move_on_while_a_page_stays_open(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    name = sign_up(page)
    # A reader's clock that is wrong by hours says nothing of ages.
    page.clock.install(time=datetime.now(UTC) - timedelta(hours=5))
    page.goto(f"{site.url}/users/{name}/")
    age = page.locator("time[data-age]").first
    expect(age).to_have_text("just now")
    page.clock.run_for(130_000)
    expect(age).to_have_text("2\u202fmin ago")
    page.evaluate(
        "document.getElementById('main').append(document.querySelector('time[data-age]').cloneNode())"
    )
    page.clock.run_for(7_300_000)
    expect(age).to_have_text("2\u202fh ago")
    expect(page.locator("time[data-age]").last).to_have_text("2\u202fh ago")


def test_the_policy_stops_inline_scripts(site: Site, open_page: Callable[..., Page]) -> None:
    """What the other tests rely on: a violation is there to be seen."""
    page = open_page(watched=False)
    page.goto(site.url)
    blocked = page.evaluate(
        """() => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective));
            const image = new Image();
            image.src = "https://elsewhere.invalid/x.png";
        })"""
    )
    assert blocked == "img-src"
    ran = page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
            return window.ran === true;
        }"""
    )
    assert ran is False


def test_the_theme_switch_is_remembered(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(color_scheme="light")
    page.goto(site.url)
    switch = page.get_by_role("button", name="Theme:")
    expect(switch).to_have_text("Theme: system")
    switch.click()
    switch.click()
    expect(switch).to_have_text("Theme: dark")
    page.goto(f"{site.url}/devices/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(switch).to_have_text("Theme: dark")


def test_every_field_and_button_has_a_name(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    sign_up(page)
    for path in PATHS[:-2]:
        page.goto(f"{site.url}{path}")
        nameless = page.evaluate(NAMELESS)
        assert nameless == [], path
