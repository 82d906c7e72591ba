"""Environment readers fail loudly, naming the variable."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from kernelhub import environment as env


def test_text_comes_from_a_file_where_one_is_named(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from the file\n")
    assert env.text("KEY", environ={"KEY_FILE": str(secret)}) == "from the file"


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"KEY_FILE": "/nowhere/secret"}, "KEY_FILE"),
        ({"KEY_FILE": "/nowhere/secret", "KEY": "x"}, "both KEY and KEY_FILE"),
    ],
)
def test_a_wrong_file_is_named(environ: dict[str, str], words: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=words):
        env.text("KEY", environ=environ)


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("Yes", True), ("off", False), ("", False)])
def test_flag(value: str, expected: bool) -> None:
    assert env.flag("KEY", environ={"KEY": value}) is expected


def test_flag_refuses_anything_else() -> None:
    with pytest.raises(ImproperlyConfigured, match="KEY='perhaps'"):
        env.flag("KEY", environ={"KEY": "perhaps"})


def test_integer_refuses_anything_else() -> None:
    with pytest.raises(ImproperlyConfigured, match="KEY='many'"):
        env.integer("KEY", 1, environ={"KEY": "many"})


def test_words() -> None:
    assert env.words("KEY", environ={"KEY": " cpu, cuda:0 ,"}) == ["cpu", "cuda:0"]
