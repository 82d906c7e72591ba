"""Templates of the catalogue: declared well, sources that compile, and refused when they are not."""

import ast
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from leaderboard.catalog.loader import CATALOG, CatalogError, load
from leaderboard.search.generators.base import Ask
from leaderboard.search.generators.template import Template, load_template, load_templates, template_for
from leaderboard.services.sources import check_entry_point
from runners.contract.vocabulary import DeviceKind

TASKS = sorted(path.parent.parent.name for path in CATALOG.glob("*/templates/cpp.toml"))
TEMPLATES = [template for task in TASKS for template in load_templates(task).values()]
DECLARATION = """
summary = "A template."
constraints = ["tile * unroll <= 16"]

[parameters]
tile = [4, 2, 8]
unroll = [1, 4]
"""


def named(template: Template) -> str:
    return f"{template.task}-{template.key}"


def test_five_tasks_have_templates_for_each_language() -> None:
    assert len(TASKS) >= 5
    for task in TASKS:
        assert set(load_templates(task)) >= {"cpp", "cuda", "python-cuda"}


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_whatever_is_proposed_is_whole_and_new(template: Template) -> None:
    spec = load(CATALOG / template.task).spec
    random, known = Random(7), set()
    for _ in range(4):
        proposals = template.generator().propose(Ask(12, (), known), random)
        assert len(proposals) == 12
        for proposal in proposals:
            assert proposal.digest not in known
            known.add(proposal.digest)
            source = proposal.kernel.source
            assert "{{" not in source
            check_entry_point(source, template.language, spec)
            if template.key.startswith("python"):
                ast.parse(source)


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_a_search_begins_at_the_first_values(template: Template) -> None:
    first = template.generator().propose(Ask(1, (), set()), Random(0))[0]
    assert first.operator == "start"
    assert first.kernel.parameters == dict(template.start)


@pytest.mark.parametrize("task", TASKS)
def test_the_cpp_templates_compile(task: str, tmp_path: Path) -> None:
    template = load_templates(task)["cpp"]
    sources = _sources(template, tmp_path, ".cpp", count=1)
    command = ["g++", "-O0", "-march=native", "-std=c++20", "-fopenmp", "-Wall", "-fsyntax-only"]
    _compile([*command, *sources])


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on this machine")
def test_the_cuda_templates_compile(tmp_path: Path) -> None:
    sources = [
        source
        for task in TASKS
        for source in _sources(load_templates(task)["cuda"], tmp_path / task, ".cu", count=0)
    ]
    _compile(["nvcc", "-std=c++20", "-arch=sm_80", "--ptx", "--output-directory", str(tmp_path), *sources])


def test_a_template_is_chosen_by_device_and_language() -> None:
    assert template_for("softmax", DeviceKind.CPU).key == "cpp"  # type: ignore[union-attr]
    assert template_for("softmax", DeviceKind.CUDA).key == "cuda"  # type: ignore[union-attr]
    assert template_for("softmax", DeviceKind.CUDA, "python").key == "python-cuda"  # type: ignore[union-attr]
    assert template_for("softmax", DeviceKind.CPU, "cuda") is None
    assert template_for("no-such-task", DeviceKind.CPU) is None


def test_a_digest_changes_with_anything_that_changes_a_search(tmp_path: Path) -> None:
    one = _write(tmp_path / "one", DECLARATION, "{{tile}} {{unroll}}").digest
    assert one == _write(tmp_path / "same", DECLARATION, "{{tile}} {{unroll}}").digest
    others = {
        _write(tmp_path / "text", DECLARATION, "{{tile}}  {{unroll}}").digest,
        _write(tmp_path / "values", DECLARATION.replace("[1, 4]", "[1, 2]"), "{{tile}} {{unroll}}").digest,
        _write(tmp_path / "start", DECLARATION.replace("[1, 4]", "[4, 1]"), "{{tile}} {{unroll}}").digest,
        _write(tmp_path / "kinds", f'kinds = ["tile"]\n{DECLARATION}', "{{tile}} {{unroll}}").digest,
        _write(tmp_path / "rule", DECLARATION.replace("<= 16", "<= 17"), "{{tile}} {{unroll}}").digest,
    }
    assert one not in others
    assert len(others) == 5


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("summary =", "title =", "title: is no key"),
        ("[4, 2, 8]", "[]", r"parameters.tile: must be a list of 1 to"),
        ("[4, 2, 8]", "[4, 4]", "parameters.tile: names a value twice"),
        ("[4, 2, 8]", '[4, "two"]', "parameters.tile: must hold whole numbers only"),
        ("[4, 2, 8]", "[4.5]", "parameters.tile: must hold whole numbers only"),
        ("tile =", "Tile =", "parameters.Tile: is no name"),
        ("unroll = [1, 4]", "unroll = [1, 4]\nmore = [1]", "parameters.more: stands nowhere"),
        ("unroll = [1, 4]", "", "'unroll' is no parameter"),
        ("<= 16", "<= 3", "constraints: forbid the first value"),
        ("tile * unroll <= 16", "tile * unroll", "is no comparison"),
        ("tile * unroll <= 16", "__import__('os') <= 16", "constraints:"),
        ("[parameters]", "[parameters", "is not valid TOML"),
    ],
)
def test_a_broken_template_is_one_sentence(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    text = DECLARATION.replace(old, new)
    if "unroll" not in text.replace("tile * unroll", ""):
        text = text.replace('constraints = ["tile * unroll <= 16"]', "")
    with pytest.raises(CatalogError, match=complaint) as raised:
        _write(tmp_path, text, "{{tile}} {{unroll}}")
    assert "\n" not in str(raised.value).replace(str(tmp_path), "") or "TOML" in complaint


def _write(folder: Path, declaration: str, text: str) -> Template:
    folder.mkdir(exist_ok=True)
    (folder / "cpp.toml").write_text(declaration)
    (folder / "cpp.template").write_text(text)
    return load_template("made-up", folder / "cpp.toml")


def _sources(template: Template, folder: Path, suffix: str, *, count: int) -> list[str]:
    """Files of the start and of ``count`` points drawn from the grid."""
    folder.mkdir(exist_ok=True)
    random = Random(template.task)
    points = [template.start, *(template.grid.any(random) for _ in range(count))]
    paths = []
    for place, point in enumerate(points):
        assert point is not None
        path = folder / f"{template.task}-{place}{suffix}"
        path.write_text(template.render(point).source)
        paths.append(str(path))
    return paths


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert "error" not in done.stderr
