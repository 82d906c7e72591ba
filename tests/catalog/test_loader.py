"""The reader of task folders: what it makes of ours, and what it says about broken ones."""

import shutil
from pathlib import Path

import pytest

from leaderboard.catalog.loader import CATALOG, CatalogError, load, load_all


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a good task that a test may break."""
    return Path(shutil.copytree(CATALOG / "softmax", tmp_path / "softmax"))


def test_every_folder_is_read_and_ordered_by_position():
    tasks = load_all()
    assert len(tasks) >= 10
    assert {task.slug for task in tasks} == {path.parent.name for path in CATALOG.glob("*/task.toml")}
    assert [task.position for task in tasks] == sorted(task.position for task in tasks)


def test_reading_twice_gives_the_same_digest():
    assert [task.spec.digest for task in load_all()] == [task.spec.digest for task in load_all()]


def test_title_summary_and_position_are_not_part_of_the_contract(folder: Path):
    before = load(folder).spec.digest
    text = (folder / "task.toml").read_text().replace('title = "Row softmax"', 'title = "Softmax"')
    (folder / "task.toml").write_text(text)
    assert load(folder).title == "Softmax"
    assert load(folder).spec.digest == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Row softmax"', "", "task.toml: title: must be one line"),
        ("position = 10", "position = true", "task.toml: position: must be a whole number"),
        ("position = 10", "position = ", "task.toml: is not valid TOML"),
        ('dtype = "float32"\nshape', 'dtype = "float12"\nshape', r"task.toml: inputs\[0\].dtype: 'float12'"),
        ("rtol = 2e-5", "rtol = 2", "task.toml: tolerance.float32.rtol"),
        ("{ rows = 7, cols = 33 }", "{ rows = 7 }", r"task.toml: cases.cpu.test\[1\].cols"),
    ],
)
def test_a_broken_task_file_is_named_with_its_key(folder: Path, old: str, new: str, message: str):
    text = (folder / "task.toml").read_text()
    assert old in text
    (folder / "task.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(CatalogError, match=message):
        load(folder)


@pytest.mark.parametrize(
    "name", ["task.toml", "reference.py", "statement.md", "starter/kernel.cu", "starter/kernel_triton.py"]
)
def test_a_missing_file_is_named(folder: Path, name: str):
    (folder / name).unlink()
    with pytest.raises(CatalogError, match=f"{name}: the file is missing"):
        load(folder)


def test_text_that_is_not_utf8_is_named(folder: Path):
    (folder / "statement.md").write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogError, match=r"statement.md: cannot be read as UTF-8"):
        load(folder)


def test_a_fixture_without_a_first_comment_is_refused(folder: Path):
    (folder / "good" / "silent.py").write_text("def kernel(x):\n    return x\n")
    with pytest.raises(CatalogError, match=r"silent.py: line 1 must be a comment"):
        load(folder)


@pytest.mark.parametrize(("line", "verdict"), [("", "wrong"), ("# Verdict: timeout\n", "timeout")])
def test_a_wrong_fixture_may_name_its_verdict(folder: Path, line: str, verdict: str):
    (folder / "wrong" / "slow.py").write_text(f"# Wrong: never ends.\n{line}def kernel(x):\n    return x\n")
    (fixture,) = [item for item in load(folder).wrong if item.path.name == "slow.py"]
    assert fixture.verdict == verdict


@pytest.mark.parametrize(
    "place", ["wrong/slow.py:passed", "wrong/slow.py:internal_error", "good/slow.py:wrong"]
)
def test_a_verdict_that_proves_nothing_is_refused(folder: Path, place: str):
    name, _, word = place.partition(":")
    (folder / name).write_text(f"# Says too much.\n# Verdict: {word}\ndef kernel(x):\n    return x\n")
    with pytest.raises(CatalogError, match=r"slow.py: line 2: only a wrong file names a verdict"):
        load(folder)


def test_a_fixture_in_an_unknown_language_is_refused(folder: Path):
    (folder / "wrong" / "kernel.rs").write_text("// Wrong: not a language of the task.\n")
    with pytest.raises(CatalogError, match=r"kernel.rs: suffix '.rs' is not one of"):
        load(folder)
