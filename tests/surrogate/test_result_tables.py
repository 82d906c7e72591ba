"""The committed tables say what the committed results say."""

from tests.benchmarks.surrogate_tables import RESULTS, document


def test_the_tables_are_those_of_the_results() -> None:
    assert (RESULTS.parent / "surrogate_tables.md").read_text() == document()
