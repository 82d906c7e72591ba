"""Novelty by embedding: what counts as new, and that what does not is never paid for."""

from itertools import combinations

import numpy as np
import pytest

from leaderboard.catalog.loader import load_all
from leaderboard.search.generators.base import Operator
from leaderboard.search.llm.embedding import cosines, embed, numbers
from leaderboard.search.llm.novelty import SAME, repeats
from surrogate.contract.request import KernelText
from tests.fake_claude import FakeClaude
from tests.search_llm.conftest import HAIKU, STARTER, MakeSearch, code, kernel, purpose
from tests.search_llm.test_search import FORM, Author

REWRITE, DIFFERENT = Operator.REWRITE, Operator.DIFFERENT


def cpp(source: str) -> KernelText:
    return KernelText("cpp", source)


def test_an_embedding_knows_text_and_neither_comments_nor_spacing() -> None:
    vector = embed("cpp", STARTER)
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0)
    again = cpp("// another comment\n" + STARTER.replace("    ", "\t"))
    assert cosines(cpp(STARTER), [again])[0] == pytest.approx(1.0)
    assert cosines(cpp(STARTER), []).shape == (0,)
    for odd in ("", "\0", "\ud800", "x" * 10**5, "(" * 5000):
        assert np.isfinite(embed("cpp", odd)).all()


def test_no_two_correct_kernels_of_the_catalogue_are_one() -> None:
    """Else the threshold would keep a search from what it looks for."""
    for task in load_all():
        found = [
            KernelText("python" if key.startswith("python") else key, text)
            for key, text in task.starters.items()
        ]
        found += [KernelText(str(item.language), item.source()) for item in task.good]
        for one, other in combinations(found, 2):
            if one.language == other.language:
                assert cosines(one, [other])[0] < SAME - 0.03, task.slug


def test_a_rewrite_that_changes_a_word_or_a_line_is_no_new_kernel() -> None:
    renamed = cpp(STARTER.replace("total", "sum"))
    assert renamed.source != STARTER
    assert cosines(renamed, [cpp(STARTER)])[0] < 1
    longer = cpp(STARTER.replace("{", "{ (void)x;", 1))
    for kernel_ in (renamed, longer):
        assert repeats(REWRITE, kernel_, [cpp("int other;"), cpp(STARTER)]) == 1
        assert repeats(DIFFERENT, kernel_, [cpp(STARTER)]) == 0
        for small in (Operator.DIFF, Operator.REPAIR):
            assert repeats(small, kernel_, [cpp(STARTER)]) is None


def test_other_numbers_are_new_except_where_a_kernel_was_to_differ() -> None:
    one, other = cpp(kernel("f") + "const int tile = 32;"), cpp(kernel("f") + "const int tile = 64;")
    assert numbers(one) != numbers(other)
    assert repeats(REWRITE, other, [one]) is None
    assert repeats(DIFFERENT, other, [one]) == 0


def test_a_repeated_kernel_costs_neither_verifiers_nor_a_measurement(
    make_search: MakeSearch, server: FakeClaude, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.search.llm.moves._WEIGHTS", {"rewrite": 1.0})
    author = Author()
    server.responder = author
    first = kernel("first", 4)
    repeated = first.replace("value) {", "value)  {").replace("return value", "return +value")
    server.script(FORM, code(first))
    written = make_search(verify=HAIKU)
    written.search.run(2)
    judged = [body for body in server.bodies if purpose(body) == "judge"]
    assert len(judged) == 3
    server.script(code(repeated), code(kernel("quite_another_one", 9)))
    written.search.run(3)
    report = written.report()
    assert report["replies_without_kernel"] == {"alike": 1}
    assert report["measured"] == 3 + 1  # the starter is measured by each call of run
    judged = [body for body in server.bodies if purpose(body) == "judge"]
    assert len(judged) == 6, "three for each kernel that was new"
    entries = [item for item in written.generator.journal.entries() if item["kind"] == "used"]
    assert "no new one" in entries[1]["message"]
