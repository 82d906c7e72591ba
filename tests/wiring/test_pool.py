"""A web process lends no connection that the database has dropped."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import json
import django
django.setup()
from django.db import connection

def backend():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]

first = backend()
connection.close()  # back to the pool, as at the end of a request
from psycopg import connect
with connect(**{k: v for k, v in connection.get_connection_params().items()
                if k in ("host", "port", "dbname", "user", "password")}, autocommit=True) as other:
    other.execute("SELECT pg_terminate_backend(%s, 5000)", [first])
print(json.dumps(backend() != first))
connection.close()
connection.close_pool()
"""


@pytest.mark.django_db
def test_the_first_request_after_a_crash_of_the_database_is_answered() -> None:
    environment = {**os.environ, "KERNELHUB_DB_POOL": "1", "DJANGO_SETTINGS_MODULE": "kernelhub.settings"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) is True
