"""Real PostgreSQL and Redis for the test session: ``-p tests.embedded`` loads it before the settings."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from kernelhub.embedded.postgres import EmbeddedPostgres
from kernelhub.embedded.redis import EmbeddedRedis

_folder = Path(tempfile.mkdtemp(prefix="kernelhub-test-"))
os.environ["KERNELHUB_DATA"] = str(_folder / "data")
(_folder / "data" / "staticfiles").mkdir(parents=True)  # whitenoise warns where it is missing

_postgres = EmbeddedPostgres(_folder / "postgres")
_redis = EmbeddedRedis(_folder / "redis")


def _stop() -> None:
    _redis.stop()
    _postgres.stop()
    shutil.rmtree(_folder, ignore_errors=True)


atexit.register(_stop)
os.environ.setdefault("DATABASE_URL", "") or os.environ.update(DATABASE_URL=_postgres.start())
os.environ.setdefault("REDIS_URL", "") or os.environ.update(REDIS_URL=_redis.start())
