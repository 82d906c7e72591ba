import pytest

from leaderboard.markdown import render


def test_statements_become_html() -> None:
    html = render("# Title\n\n`x` is **bold**.\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n")
    assert "<h1>Title</h1>" in html
    assert "<code>x</code>" in html
    assert '<th class="align-center">a</th>' in html
    assert "style=" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "<javascript:alert(1)>",
        '```"><script>alert(1)</script>\n```',
    ],
)
def test_nothing_in_a_statement_runs(text: str) -> None:
    html = render(text)
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert 'href="data' not in html
