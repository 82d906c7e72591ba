"""Typing a kernel shows a forecast; submitting it puts forecast and measurement side by side."""

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import RUN, Site, set_source

SOURCE = "import torch\n\ndef kernel(x):\n    return torch.softmax(x, dim=-1)\n"


def test_a_typed_kernel_is_forecast_and_then_measured(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    name = sign_up(page)
    # The reference is measured whenever the runner has nothing else to do, so mostly during the tests that
    # stand before this one; the board shows it by itself.
    page.goto(site.task)
    expect(page.locator("tr.baseline").first).to_be_visible(timeout=RUN)

    page.goto(f"{site.submit}?mode=benchmark")
    forecast = page.locator("[data-forecast-body]")
    expect(forecast).to_contain_text("band")
    box = forecast.bounding_box()
    set_source(page, SOURCE)
    expect(forecast).not_to_have_attribute("data-stale", "")
    expect(forecast).to_contain_text("Faster than reference, eager")
    expect(forecast).to_contain_text("uncalibrated")
    expect(forecast).to_contain_text("measured when you submit it")
    expect(page.locator("[data-forecast-sentence]")).to_contain_text(re.compile("Forecast: .*band"))
    assert forecast.bounding_box() == box  # nothing below it moved

    page.get_by_role("button", name="Submit", exact=True).click()
    result = page.locator("#result")
    expect(result).to_contain_text("Forecast")
    expect(result).to_contain_text("Passed", timeout=RUN)
    expect(result.locator(".forecast")).to_contain_text(re.compile("Measured, (in|out)side the band"))

    page.goto(f"{site.url}/surrogate/")
    page.get_by_role("link", name=re.compile("core")).first.click()
    expect(page.get_by_role("heading", name="Forecast against measured")).to_be_visible()
    page.get_by_text("Data of this chart").first.click()
    expect(page.get_by_role("link", name=f"Row softmax, {name}")).to_be_visible()


def test_a_text_that_a_busy_forecaster_did_not_answer_is_sent_once_more(
    site: Site, open_page: Callable[..., Page], sign_up: Callable[[Page], str]
) -> None:
    page = open_page()
    sign_up(page)
    heard: list[tuple[int, bool]] = []

    def handle(socket: WebSocketRoute) -> None:
        def answer(message: str | bytes) -> None:
            typed = json.loads(message)
            heard.append((typed["number"], typed["is_repeat"]))
            says = {"html": f"<p>Busy, {len(heard)}.</p>", "is_final": True, "is_forecast": False}
            socket.send(json.dumps({"number": typed["number"], "ask_again": len(heard) == 1, **says}))

        socket.on_message(answer)

    page.route_web_socket(re.compile("/ws/forecast/"), handle)
    page.goto(site.submit)
    expect(page.locator("[data-forecast-body]")).to_contain_text("Busy, 2.")
    assert heard == [(1, False), (2, True)]
