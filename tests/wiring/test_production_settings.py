"""Production settings: complete ones pass Django's deployment checks, incomplete ones fail loudly."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPLETE = {
    "KERNELHUB_PRODUCTION": "1",
    "SECRET_KEY": "a-key-for-this-test-only-long-enough-and-with-many-different-characters-0123456789",
    "KERNELHUB_ALLOWED_HOSTS": "kernelhub.example",
}


def check_deploy(**changes: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **COMPLETE, **changes}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


def test_complete_production_settings_are_clean() -> None:
    done = check_deploy()
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_a_missing_secret_key_fails_loudly() -> None:
    done = check_deploy(SECRET_KEY="")
    assert done.returncode != 0
    assert "SECRET_KEY is not set" in done.stderr


def test_debug_is_refused_in_production() -> None:
    done = check_deploy(KERNELHUB_DEBUG="1")
    assert done.returncode != 0
    assert "KERNELHUB_DEBUG must be off" in done.stderr


def test_a_weak_sandbox_is_refused_in_production() -> None:
    done = check_deploy(KERNELHUB_ALLOW_WEAK_SANDBOX="1")
    assert done.returncode != 0
    assert "KERNELHUB_ALLOW_WEAK_SANDBOX must be off" in done.stderr


@pytest.mark.parametrize("tier", ["T3", "T9"])
def test_a_tier_that_no_sandbox_reaches_is_named(tier: str) -> None:
    done = check_deploy(KERNELHUB_REQUIRED_TIER=tier)
    assert done.returncode != 0
    assert f"{tier!r} is not one of T0, T1, T2" in done.stderr


@pytest.mark.parametrize(("asked", "preload"), [({}, "False"), ({"KERNELHUB_HSTS_PRELOAD": "yes"}, "True")])
def test_preload_lists_are_joined_on_request_only(asked: dict[str, str], preload: str) -> None:
    code = "from django.conf import settings as s; print(s.SECURE_HSTS_PRELOAD, s.SECURE_HSTS_SECONDS > 0)"
    environment = {**os.environ, **COMPLETE, **asked, "DJANGO_SETTINGS_MODULE": "kernelhub.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == [preload, "True"], done.stderr


def test_external_servers_are_taken_from_the_environment() -> None:
    code = "from django.conf import settings as s; print(s.DATABASES['default']['HOST'], s.REDIS_URL)"
    environment = {
        **os.environ,
        "DATABASE_URL": "postgresql://somebody:secret@db.example:5433/hub",
        "REDIS_URL": "redis://redis.example:6380/2",
        "DJANGO_SETTINGS_MODULE": "kernelhub.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["db.example", "redis://redis.example:6380/2"], done.stderr
