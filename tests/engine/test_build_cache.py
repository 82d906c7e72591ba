"""The cache of compiled libraries stays within its bounds, whatever is compiled."""

import os
from pathlib import Path

from runners.sandbox.spawn import Layers
from runners.supervisor.build_cache import MOST_ENTRY_BYTES, BuildCache
from runners.supervisor.stop import Stop
from runners.supervisor.workshop import SandboxedWorkshop


def age(folder: Path, *keys: str) -> None:
    """Gives the entries times of last use in the order named, all of them long ago."""
    for second, key in enumerate(keys, 1):
        os.utime(folder / key, (second, second))


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path, most_bytes=30)
    for key in ("a", "b", "c"):
        cache.put(key, bytes(10))
    age(tmp_path, "a", "b", "c")
    assert cache.get("a") == bytes(10)
    cache.put("d", bytes(10))
    assert {path.name for path in tmp_path.iterdir()} == {"a", "c", "d"}


def test_a_large_artefact_is_not_kept(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "new", most_entry_bytes=10)
    cache.put("large", bytes(11))
    cache.put("small", bytes(10))
    assert cache.get("large") is None
    assert cache.get("small") == bytes(10)


def test_drafts_of_killed_supervisors_go_too(tmp_path: Path) -> None:
    (tmp_path / "tmpdraft").write_bytes(bytes(100))
    age(tmp_path, "tmpdraft")
    BuildCache(tmp_path, most_bytes=50).put("a", bytes(10))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_workshop_uses_it(tmp_path: Path) -> None:
    workshop = SandboxedWorkshop(str(tmp_path), 1, Layers(), Stop(float("inf"), 1))
    workshop.store("large", bytes(MOST_ENTRY_BYTES + 1))
    workshop.store("small", b"x")
    assert (workshop.cached("large"), workshop.cached("small")) == (None, b"x")
