"""How soon a person who writes a kernel sees its forecast, in a real browser on a running site.

    python -m tests.benchmarks.live_forecast http://127.0.0.1:8000 softmax > tests/benchmarks/results/live_forecast.json

Signs up an account, pastes kernels of several lengths into the editor, and takes the time from the last change to
the first forecast on the page, and to the one that a language model had read too. The page's own pause of 0.6 s
after the last key stroke is part of both. Needs Chromium.
"""  # noqa: E501 - a command to copy

import argparse
import json
import os
import statistics
import sys
import time
from datetime import UTC, datetime

from playwright.sync_api import Page, sync_playwright

from surrogate.management.commands.evaluate_surrogate import machine
from tests.browser.conftest import ARGUMENTS, find_chromium, set_source

PASSWORD = "correct-horse-battery"
#: Lines of the kernels: a short one, and ones as long as people's.
LENGTHS = (3, 40, 120)
_WATCH = """() => {
    const body = document.querySelector("[data-forecast-body]");
    window.seen = {start: performance.now(), first: 0, last: 0};
    window.watcher?.disconnect();
    window.watcher = new MutationObserver(() => {
        if ("stale" in body.dataset || !body.textContent.includes("band")) return;
        seen.first ||= performance.now();
        if (body.textContent.includes("measured when")) seen.last ||= performance.now();
    });
    watcher.observe(body, {childList: true, attributes: true, subtree: true});
}"""


def kernel(lines: int, variant: int) -> str:
    steps = [f"    x = x * {1 + variant / 1000} + {index}" for index in range(lines)]
    return "\n".join(["import torch", "", "def kernel(x):", *steps, "    return torch.softmax(x, -1)", ""])


def sign_up(page: Page, site: str) -> None:
    page.goto(f"{site}/accounts/signup/")
    page.get_by_label("Username").fill(f"typist-{time.time_ns()}")
    for field in (page.get_by_label("Password").first, page.get_by_label("Password").last):
        field.fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    page.wait_for_url(f"{site}/")


def readings(page: Page, lines: int, repeats: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"first": [], "last": []}
    for variant in range(repeats):
        page.evaluate(_WATCH)
        # The clock starts again once the text is in: putting it there is not what is timed.
        set_source(page, kernel(lines, variant))
        page.evaluate("() => { seen.start = performance.now(); }")
        for _ in range(600):
            if page.evaluate("() => seen.last > 0"):
                break
            page.wait_for_timeout(100)
        seen = page.evaluate("() => seen")
        for name, values in found.items():
            values.append(round((seen[name] - seen["start"]) / 1000, 3))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("site")
    parser.add_argument("task")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = browser.new_page()
        sign_up(page, options.site)
        page.goto(f"{options.site}/surrogate/")
        members = [name.split()[0] for name in page.locator("dl.facts dt").all_inner_texts()]
        ready = [text.startswith("ready") for text in page.locator("dl.facts dd").all_inner_texts()]
        page.goto(f"{options.site}/tasks/{options.task}/submit/")
        page.get_by_text("measured when you submit").wait_for(timeout=60_000)
        cases = {str(lines): readings(page, lines, options.repeats) for lines in LENGTHS}
        browser.close()
    document = {
        "command": "python -m tests.benchmarks.live_forecast " + " ".join(sys.argv[1:]),
        "machine": {**machine(), "load_average_before": load},
        "date": datetime.now(UTC).date().isoformat(),
        "forecasters": [name for name, is_ready in zip(members, ready, strict=True) if is_ready],
        "seconds_by_lines": {
            lines: {
                name: {"median": statistics.median(values), "all": values} for name, values in case.items()
            }
            for lines, case in cases.items()
        },
    }
    json.dump(document, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
