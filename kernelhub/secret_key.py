"""The secret key of a local installation, made once and kept beside its data."""

import contextlib
import os
import secrets
from pathlib import Path


def local_secret_key(data_dir: Path) -> str:
    """The key in ``data_dir``, or a passing one where the folder cannot be written.

    A passing key only ends sessions at the next start; ``manage.py up`` refuses an unwritable folder anyway.
    """
    path = data_dir / "secret_key"
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        pass
    key = secrets.token_urlsafe(50)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        # O_EXCL: of two processes that start together one wins, and the other reads what it wrote.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(key)
    except FileExistsError:  # of the key; or of a file where the folder should be, which the launcher refuses
        with contextlib.suppress(OSError):
            return path.read_text(encoding="ascii") or key
    except OSError:
        pass
    return key
