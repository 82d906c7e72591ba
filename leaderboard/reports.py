"""Result documents as text for a terminal. Nothing here asks the database."""

from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.case_names import Spelling
from leaderboard.templatetags import formats

_LOG_LINES = 20
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """``text`` for a terminal: what a submission says must not colour, move or command it."""
    return text.translate(_CONTROLS)


def duration(seconds: float | None) -> str:
    """As pages have it, but with a space that every terminal has: ``12.34 µs``."""
    return formats.duration(seconds).replace(formats.SPACE, " ")


def event_line(event: Mapping[str, Any], spell: Spelling = str) -> str:
    """One line about a progress event, empty for those not worth one."""
    match event["type"]:
        case "stage" if event["status"] != "started":
            return f"{event['stage']}: {event['status']} in {duration(event.get('seconds'))}"
        case "test":
            return printable(f"  {_case_line(event['case'], spell)}")
        case "timing":
            return f"  {_timing_line(event['case'], spell)}"
        case _:
            return ""


def result_text(document: Mapping[str, Any], spell: Spelling = str) -> str:
    """The whole outcome: verdict, failed cases with their worst element, times, compiler output."""
    reason = spell(document["reason"])
    lines = [f"verdict: {document['verdict']}" + (f" ({reason})" if reason else "")]
    for finding in document.get("findings", []):
        lines.append(f"  line {finding['line']}: {finding['rule']}: {finding['message']}")
    failed = [case for case in document.get("tests", []) if case["status"] != "passed"]
    lines.append(f"tests: {len(document.get('tests', [])) - len(failed)} passed, {len(failed)} not")
    for case in failed:
        lines += [f"  {_case_line(case, spell)}", *_outputs(case)]
    for timing in document.get("benchmarks", []):
        lines += [f"  {_timing_line(timing, spell)}", *_outputs(timing)]
    if score := document.get("score"):
        roofline = score.get("roofline")
        share = f", {roofline:.1%} of the roofline" if roofline is not None else ""
        lines.append(f"score: {_interval(score)}{share}")
    log = str((document.get("compile") or {}).get("log", "")).strip()
    if log and document["verdict"] != "passed":
        lines += ["compiler:", *(f"  {line}" for line in log.splitlines()[:_LOG_LINES])]
    return printable("\n".join(lines))


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns padded to their widest cell."""
    whole = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*whole, strict=True)]
    return printable(
        "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in whole
        )
    )


def _case_line(case: Mapping[str, Any], spell: Spelling) -> str:
    message = case.get("message", "")
    return spell(f"{case['status']:7} {case['case']}" + (f": {message}" if message else ""))


def _timing_line(timing: Mapping[str, Any], spell: Spelling) -> str:
    if timing.get("seconds") is None:
        return _case_line(timing, spell)
    floor = timing.get("floor_seconds")
    share = f", {floor / timing['seconds']:.1%} of the roofline" if floor else ""
    return f"{timing['status']:7} {spell(timing['case'])}: {_interval(timing)}{share}"


def _interval(item: Mapping[str, Any]) -> str:
    return f"{duration(item['seconds'])} [{duration(item['ci_low'])} to {duration(item['ci_high'])}]"


def _outputs(case: Mapping[str, Any]) -> list[str]:
    failed = [error for error in case.get("outputs", []) if error["mismatches"]]
    if len(failed) == 1 and case.get("message"):
        return []  # the message tells it all
    return [
        f"          {error['output']}: {error['mismatches']} of {error['elements']} elements differ, "
        f"worst at {error['worst_index']}: got {error['got']}, want {error['want']}"
        for error in failed
    ]
