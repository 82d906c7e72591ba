"""Parts of result documents as tables and links."""

from leaderboard.templatetags.reports import (
    allowance_used,
    cells,
    column_label,
    columns,
    linked_log,
    relative_error,
)


def ordinary(text: str) -> str:
    return text.replace("\u202f", " ")


def test_a_log_links_places_and_lets_nothing_else_through() -> None:
    log = linked_log('kernel.cu(7): error <b>\nkernel.cpp:13:32: error: x\nother.h:5:1: "note"')
    assert '<a href="#L-7">kernel.cu(7</a>' in log
    assert '<a href="#L-13">kernel.cpp:13</a>:32' in log
    assert "<b>" not in log
    assert log.count("<a ") == 2


def test_functions_that_report_different_things_share_one_table() -> None:
    functions = [
        {"name": "f", "shared_bytes": 8192, "registers": 40},
        {"name": "g", "registers": 32, "occupancy": 0.75, "zzz": "odd"},
    ]
    assert columns(functions) == ["registers", "shared_bytes", "occupancy", "zzz"]
    assert [ordinary(cell) for cell in cells(functions[0], functions)] == ["40", "8 KiB", "–", "–"]
    assert [ordinary(cell) for cell in cells(functions[1], functions)] == ["32", "–", "75.0 %", "odd"]


def test_occupancies_stand_in_the_order_of_block_sizes() -> None:
    function = {"name": "f", "occupancy_1024": 0.5, "occupancy_128": 1.0, "occupancy_limit": "registers"}
    names = columns([function])
    assert names == ["occupancy_limit", "occupancy_128", "occupancy_1024"]
    assert column_label(names[1]) == "Occupancy, 128 threads"
    assert [ordinary(cell) for cell in cells(function, [function])] == ["registers", "100 %", "50.0 %"]


def test_a_relative_error_beside_next_to_nothing_is_said_to_be_covered_where_the_case_passed() -> None:
    outputs = [{"max_rel_error": 3e9}]
    assert relative_error({"status": "passed", "outputs": outputs}) == "covered by atol"
    assert relative_error({"status": "failed", "outputs": outputs}) == "> 1e+06"
    assert relative_error({"status": "passed", "outputs": [{"max_rel_error": 1.0}]}) == "covered by atol"
    assert relative_error({"status": "failed", "outputs": [{"max_rel_error": 1.0}]}) == "1.00e+00"
    assert relative_error({"status": "passed", "outputs": [{"max_rel_error": None}]}) == "not finite"
    assert relative_error({"status": "passed", "outputs": [{"max_rel_error": 1e-3}]}) == "1.00e-03"


def test_the_allowance_used_is_told_in_percent_or_in_multiples() -> None:
    told = {
        share: ordinary(allowance_used({"allowance_used": share})) for share in (0.0, 0.1234, 1.0, 37.2, 1e9)
    }
    assert list(told.values()) == ["0.0 %", "12.3 %", "100 %", "37.2 ×", "over 1e6 ×"]
    assert allowance_used({"allowance_used": None, "status": "failed"}) == "beyond all bounds"
    assert allowance_used({"allowance_used": None, "status": "passed"}) == "–"
    assert allowance_used({}) == "–", "results from before it was told"
