"""The front-end build, and that nothing of other people's lies in the repository."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kernelhub import frontend

ROOT = Path(__file__).resolve().parents[2]


def lock() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ROOT / "package-lock.json").read_text())
    return document


def test_the_lock_file_names_no_package_source_and_pins_every_content() -> None:
    packages = {name: entry for name, entry in lock()["packages"].items() if name}
    assert packages
    for name, entry in packages.items():
        assert "resolved" not in entry, name
        assert entry.get("integrity", "").startswith("sha512-"), name


def test_the_lock_file_fits_the_package_file() -> None:
    wanted = json.loads((ROOT / "package.json").read_text())
    root = lock()["packages"][""]
    assert root["dependencies"] == wanted["dependencies"]
    assert root["devDependencies"] == wanted["devDependencies"]


def test_no_built_or_foreign_script_is_committed() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    files = listed.stdout.split("\n")
    scripts = [name for name in files if name.endswith((".js", ".mjs", ".css", ".map"))]
    assert [name for name in scripts if not name.startswith("static/src/")] == []
    assert max(len((ROOT / name).read_text().splitlines()) for name in scripts) < 300


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the sources, with the installed packages linked in where there are some."""
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "static" / "src", tmp_path / "static" / "src")
    return tmp_path


def test_without_node_plain_style_sheets_remain(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "_find", lambda program: None)
    assert frontend.build(checkout) is False
    built = checkout / "static" / "dist" / "kernelhub"
    imported = [line.split('"')[1] for line in (built / "site.css").read_text().splitlines() if line]
    assert imported
    assert all((built / name).is_file() for name in imported)
    assert not (built / "site.js").exists()  # it imports packages that are not there


def test_it_builds_once_and_again_only_when_a_source_changed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if frontend._find("node") is None:
        pytest.skip("no Node on this machine")
    if (ROOT / "node_modules").is_dir():
        shutil.copytree(ROOT / "node_modules", checkout / "node_modules", symlinks=True)
        monkeypatch.setattr(frontend, "_install", lambda root: None)
    assert frontend.build(checkout) is True
    bundles = [checkout / "static" / "dist" / "kernelhub" / entry for entry in frontend.ENTRIES]
    assert all(bundle.stat().st_size > 100 for bundle in bundles)

    def fail(*_: object) -> None:
        raise AssertionError("nothing changed, nothing is to be built")

    with monkeypatch.context() as patch:
        patch.setattr(frontend, "_run", fail)
        assert frontend.build(checkout) is True

    theme = checkout / "static" / "src" / "theme.js"
    theme.write_text(theme.read_text() + '\nconsole.log("changed");\n')
    assert frontend.build(checkout) is True
    assert "changed" in (checkout / "static" / "dist" / "kernelhub" / "theme.js").read_text()


def test_a_failed_step_is_one_line(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if frontend._find("node") is None:
        pytest.skip("no Node on this machine")
    (checkout / "node_modules" / "esbuild").mkdir(parents=True)
    monkeypatch.setattr(frontend, "_install", lambda root: None)
    with pytest.raises(frontend.BuildError) as failure:
        frontend.build(checkout)
    assert "esbuild failed" in str(failure.value)
    assert "\n" not in str(failure.value)
