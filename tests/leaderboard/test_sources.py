"""Which sources are refused before anything is compiled, and on which line."""

import cProfile

import pytest

from leaderboard.services.errors import Refusal
from leaderboard.services.sources import check_entry_point, read_language, read_source
from runners.contract.limits import MAX_SOURCE_BYTES
from runners.contract.parse import parse_task
from runners.contract.vocabulary import Language

from .conftest import REFERENCE, task_document

SPEC = parse_task("double", task_document(), REFERENCE)


@pytest.mark.parametrize(
    ("source", "rule", "line"),
    [
        (b"", "empty", None),
        (b" \n\t\r\n", "empty", None),
        ("\ufeff\n".encode(), "empty", None),
        (b"#" * (MAX_SOURCE_BYTES + 1), "too_large", None),
        ("é" * (MAX_SOURCE_BYTES // 2 + 1), "too_large", None),
        (b"a\nb\n\xff", "not_utf8", 3),
        (b"\xed\xa0\x80", "not_utf8", 1),
        ("ok\n\ud800", "not_utf8", 2),
        (b"a\n\n\0b", "nul_byte", 3),
    ],
)
def test_refused_texts(source: bytes | str, rule: str, line: int | None) -> None:
    with pytest.raises(Refusal) as caught:
        read_source(source)
    assert (caught.value.rule, caught.value.line) == (rule, line)
    assert caught.value.message.endswith(".")


def test_largest_source_is_taken() -> None:
    assert len(read_source(b"#" * MAX_SOURCE_BYTES)) == MAX_SOURCE_BYTES


def test_newlines_of_forms_and_byte_order_marks_make_no_other_kernel() -> None:
    assert read_source(b"\xef\xbb\xbfa\r\nb\r\n") == read_source("a\nb\n") == "a\nb\n"


def test_characters_are_not_normalised() -> None:
    assert read_source("x = 'ﬁ'") == "x = 'ﬁ'"


@pytest.mark.parametrize(
    "source",
    [
        "def kernel(x): return x",
        "kernel = compiled",
        "kernel: object = compiled",
        "a, kernel = 1, 2",
        "import torch\nif torch.cuda.is_available():\n    def kernel(x): ...\nelse:\n    kernel = None",
        "try:\n    import a\nexcept ImportError:\n    def kernel(x): ...",
        "from mine import fast as kernel",
        "from mine import *",
        "class kernel: ...",
    ],
)
def test_python_entry_points(source: str) -> None:
    check_entry_point(source, Language.PYTHON, SPEC)


@pytest.mark.parametrize(
    "source",
    [
        "def Kernel(x): ...",
        "def f():\n    def kernel(x): ...",
        "class A:\n    def kernel(x): ...",
        "# def kernel(x): ...",
        "'def kernel(x): ...'",
        "kernel: object",
        "x.kernel = 1",
        "import kernel_helper",
    ],
)
def test_missing_python_entry_points(source: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_entry_point(source, Language.PYTHON, SPEC)
    assert caught.value.rule == "entry_point_missing"
    assert "def kernel(x)" in caught.value.message


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = 1\ndef kernel(x:\n", 2),
        ("def kernel(x):\n    return x\n  y", 3),
        ("(" * 1000, 1),
        ("x" + ".a" * 14_000, None),
        ("-" * 29_000 + "1", None),
    ],
)
def test_python_that_does_not_parse(source: str, line: int | None) -> None:
    with pytest.raises(Refusal) as caught:
        check_entry_point(source, Language.PYTHON, SPEC)
    assert caught.value.rule == "syntax_error"
    assert caught.value.line == line


@pytest.mark.parametrize(
    "source",
    [
        'extern "C" void kernel(const float* x) {}',
        'extern "C" void\nkernel\n(const float* x) {}',
        'const char* s = "/*"; void kernel(int n);',
        "int n = 1'000'000; void kernel(int n);",
        "char c = '\"'; void kernel(int n);",
        'auto s = R"(" /* )"; void kernel(int n);',
        'auto s = u8R"x()")x"; void kernel(int n);',
        "// nothing\nvoid kernel(int n);",
        "/* kernel( **/ float half(int n) { return n / 2; } void name ::kernel (int n);",
        'auto s = MACRO_R"no raw one"; void kernel(int n);',
    ],
)
def test_c_entry_points(source: str) -> None:
    check_entry_point(source, Language.CPP, SPEC)


@pytest.mark.parametrize(
    "source",
    [
        "void my_kernel(int n);",
        "void kernel2(int n);",
        "// void kernel(int n);",
        "/* void kernel(int n); */",
        "/* void kernel(int n);",
        'const char* s = "void kernel(int n);";',
        'const char* s = "\\" kernel(";',
        'auto s = R"(kernel()";',
        'auto s = R"x()" kernel()x";',
        "int kernel = 1;",
    ],
)
def test_missing_c_entry_points(source: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_entry_point(source, Language.CPP, SPEC)
    assert caught.value.rule == "entry_point_missing"
    assert 'extern "C" void kernel(const float* x' in caught.value.message


@pytest.mark.parametrize("piece", ['R"(', '"', "'", "/*", "kernel ", "//", "1'"])
def test_hostile_c_is_read_in_linear_time(piece: str) -> None:
    with pytest.raises(Refusal):
        check_entry_point(piece * (MAX_SOURCE_BYTES // len(piece)), Language.CPP, SPEC)


def _steps_of(source: str) -> int:
    """How many calls the interpreter makes for a source without an entry point, C's own included."""
    profile = cProfile.Profile()
    with pytest.raises(Refusal), profile:
        check_entry_point(source, Language.CPP, SPEC)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("piece", ["'\"'", '""', "a ", "/", 'R"()"', "// \n", "1 "])
def test_the_entry_point_of_c_is_sought_without_a_step_of_python_per_token(piece: str) -> None:
    hidden = '\n"kernel("\n'  # found by a plain search, so that all before it must be read
    _steps_of(hidden)  # patterns are compiled once
    assert _steps_of(piece * 2000 + hidden) < 200


@pytest.mark.parametrize(
    ("language", "filename", "expected"),
    [
        ("python", "", Language.PYTHON),
        ("", "mine.PY", Language.PYTHON),
        ("", "a.b.cu", Language.CUDA),
        ("cpp", "x.cc", Language.CPP),
    ],
)
def test_languages(language: str, filename: str, expected: Language) -> None:
    assert read_language(language, filename) == expected


@pytest.mark.parametrize(
    ("language", "filename", "rule"),
    [
        ("", "", "language_unknown"),
        ("", "kernel.rs", "language_unknown"),
        ("rust", "", "language_unknown"),
        ("Python", "", "language_unknown"),
        ("python", "kernel.cu", "language_mismatch"),
        ("cpp", "kernel.txt", "language_mismatch"),
    ],
)
def test_refused_languages(language: str, filename: str, rule: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_language(language, filename)
    assert caught.value.rule == rule


def test_a_mismatch_names_the_language_as_pages_do() -> None:
    with pytest.raises(Refusal, match=r"^The file ends in \.py, but a C\+\+ source ends in \.cpp or "):
        read_language("cpp", "kernel.py")
