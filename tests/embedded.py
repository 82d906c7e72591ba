"""Real PostgreSQL and Redis for the test session: ``-p tests.embedded`` loads it before the settings.

Test processes that share a session each have their own: channels and queues would meet otherwise.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from kernelhub.embedded.postgres import EmbeddedPostgres
from kernelhub.embedded.redis import EmbeddedRedis

#: Names of the variables below that were set here.
_MADE_HERE = "KERNELHUB_TEST_SERVERS"

if "PYTEST_XDIST_WORKER" in os.environ:
    for name in os.environ.pop(_MADE_HERE, "").split():  # of the process that hands out the tests
        del os.environ[name]

_folder = Path(tempfile.mkdtemp(prefix="kernelhub-test-"))
os.environ["KERNELHUB_DATA"] = str(_folder / "data")
os.environ["KERNELHUB_CALIBRATION_PATIENCE"] = "0"  # no test depends on how true the ceilings are
os.environ["KERNELHUB_NOISE_REPEATS"] = "0"  # nor on how much equal runs differ: that takes minutes to learn
(_folder / "data" / "staticfiles").mkdir(parents=True)  # whitenoise warns where it is missing

_postgres = EmbeddedPostgres(_folder / "postgres")
_redis = EmbeddedRedis(_folder / "redis")


def _stop() -> None:
    _redis.stop()
    _postgres.stop()
    shutil.rmtree(_folder, ignore_errors=True)


atexit.register(_stop)
for name, server in (("DATABASE_URL", _postgres), ("REDIS_URL", _redis)):
    if not os.environ.get(name):
        os.environ[name] = server.start()
        os.environ[_MADE_HERE] = f"{os.environ.get(_MADE_HERE, '')} {name}"
