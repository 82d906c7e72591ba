"""Where the embedded services of a data folder listen. Written by ``manage.py up``, read by the settings."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

_FILE = "services.json"


@dataclass(frozen=True)
class Addresses:
    database_url: str
    redis_url: str


#: Stands in when nothing runs: commands that need no database still work, the others fail to connect.
_NOWHERE = Addresses("postgresql://postgres@localhost:1/postgres", "redis://localhost:1/0")


def known_addresses(data_dir: Path) -> Addresses:
    """What the running services wrote, or addresses at which nobody listens."""
    try:
        return Addresses(**json.loads((data_dir / _FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return _NOWHERE


def write_addresses(data_dir: Path, addresses: Addresses) -> None:
    """Replace the file at once, readable by the owner only: it grants access to the database."""
    path = data_dir / _FILE
    temporary = path.with_suffix(f".{os.getpid()}")
    with open(
        os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as file:
        json.dump(asdict(addresses), file)
    temporary.replace(path)


def forget_addresses(data_dir: Path) -> None:
    (data_dir / _FILE).unlink(missing_ok=True)
