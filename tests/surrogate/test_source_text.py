"""Comments tell a forecaster what the author hoped for; they must not count."""

import pytest

from surrogate.contract.request import KernelText
from surrogate.features.similarity import kernel_digest, similarity
from surrogate.features.source import SOURCE_FEATURES, source_features
from surrogate.features.text import MOST_READ, strip_comments
from tests.surrogate.factories import source

PYTHON = '''"""Ten times faster."""
import torch  # fast

NAME = "# not a comment"
CODE = r"""
__global__ void kernel() { /* targeting 3x */ int x = 1; // quick
}
"""


def kernel(x):
    """Targeting 3x."""
    return x.sum()
'''


def test_python_comments_docstrings_and_embedded_c_comments_go() -> None:
    text = strip_comments("python", PYTHON)
    for gone in ("Ten times", "# fast", "targeting", "Targeting", "quick"):
        assert gone not in text
    for kept in ('"# not a comment"', "__global__", "int x = 1;", "return x.sum()"):
        assert kept in text


def test_c_comments_go_but_not_what_looks_like_them_in_strings() -> None:
    text = strip_comments("cuda", 'auto s = "// kept"; // gone\nint a; /* gone\n too */ int b; /* open')
    assert "gone" not in text
    assert "open" not in text
    assert '"// kept"' in text
    assert "int b;" in text


@pytest.mark.parametrize("broken", ["def f(:\n  '''open  # x", "\x00", "'" * 7, "(" * 500, "\tx\n  y # z"])
def test_broken_python_is_still_read(broken: str) -> None:
    strip_comments("python", broken)
    assert len(source_features("python", broken)) == len(SOURCE_FEATURES)


def test_kernels_that_differ_in_comments_only_are_one() -> None:
    one = KernelText("cuda", "int a = 1; // one")
    assert kernel_digest(one) == kernel_digest(KernelText("cuda", "int a   = 1;"))
    assert kernel_digest(one) != kernel_digest(KernelText("cuda", "int a = 2;"))
    assert kernel_digest(one) != kernel_digest(KernelText("cuda", "int a = 1;", {"block": 32}))


def test_similarity_orders_what_is_alike() -> None:
    base = KernelText("cuda", source(vector=5, loops=3, seed=1))
    near = KernelText("cuda", source(vector=5, loops=3, seed=1).replace("load4(0)", "load4(7)"))
    far = KernelText("cuda", source(vector=0, loops=5, seed=2))
    assert similarity(base, base) == 1.0
    assert similarity(base, near) > 0.8  # numbers do not count
    assert similarity(base, far) < similarity(base, near)
    tuned = [KernelText("cuda", base.source, {"block": block}) for block in (32, 64, 256)]
    assert 1 > similarity(tuned[0], tuned[1]) > similarity(tuned[0], tuned[2]) > 0


@pytest.mark.parametrize("language", ["python", "cuda"])
@pytest.mark.parametrize(
    "unit",
    ['\\"', '"', "'", "/*", "*/", "(", "]", "] ", "9", "conv", "a = '\n", "#", "\n", "\ud800", "\\", " x_("],
)
def test_no_text_keeps_a_forecaster_busy(language: str, unit: str) -> None:
    """Much of what makes careless patterns start over and over: the suite hangs if one does."""
    text = '"' + unit * (40_000 // len(unit))
    assert len(source_features(language, text)) == len(SOURCE_FEATURES)
    kernel_digest(KernelText(language, text))
    assert similarity(KernelText(language, text), KernelText(language, text)) == 1.0


def test_of_a_huge_source_only_the_beginning_is_read_but_the_rest_still_tells_kernels_apart() -> None:
    beginning = "int a = 1;\n" * (MOST_READ // 11 + 1)
    one, other = KernelText("cuda", beginning + "one"), KernelText("cuda", beginning + "other")
    assert len(strip_comments("cuda", one.source)) <= MOST_READ
    assert kernel_digest(one) != kernel_digest(other)
