"""The embedded servers, killed: they come back on the same data, where their clients look for them."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from kernelhub.embedded.postgres import EmbeddedPostgres
from kernelhub.embedded.redis import EmbeddedRedis
from kernelhub.embedded.watch import MOST_FAILURES, Server, ServiceGone, ServiceWatch
from tests.waiting import wait_for

LATER = 1e9  # of the monotonic clock: every pause is over


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(tmp_path / "postgres")
    yield server
    server.stop()


@pytest.fixture
def embedded_redis(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    # Too long for a socket, which then lies in a folder with a name of chance.
    server = EmbeddedRedis(tmp_path / ("long" * 25))
    yield server
    server.stop()


def kill(server: Server, pid: int | None) -> None:
    assert pid
    os.kill(pid, signal.SIGKILL)
    wait_for("its end", lambda: not server.alive())


def test_a_killed_postgresql_comes_back_with_its_data(postgres: EmbeddedPostgres) -> None:
    said: list[str] = []
    watch = ServiceWatch(said.append)
    address = watch.start("PostgreSQL", postgres)
    with psycopg.connect(address) as connection:
        connection.execute("create table kept as select 7 as number")
    watch.look(0.0)
    assert not said
    kill(postgres, postgres.pid())
    watch.look(time.monotonic())
    assert not postgres.alive(), "it is started without a pause"

    def back() -> bool:
        """By the real clock: a start fails until the processes below the one killed have ended, too."""
        watch.look(time.monotonic())
        return postgres.alive()

    wait_for("PostgreSQL", back)
    with psycopg.connect(address) as connection:
        assert connection.execute("select number from kept").fetchone() == (7,)
    assert said[0] == "PostgreSQL ended; starting it again in 1 s"
    assert said[-1] == "PostgreSQL is back"


def test_a_killed_redis_comes_back_at_its_address(embedded_redis: EmbeddedRedis) -> None:
    said: list[str] = []
    watch = ServiceWatch(said.append)
    client = redis.Redis.from_url(watch.start("Redis", embedded_redis))
    client.set("a", 1)
    process = embedded_redis.process()
    assert process
    kill(embedded_redis, process.pid)
    watch.look(0.0)
    watch.look(LATER)
    assert client.get("a") is None, "a client that was there before must find the new one"
    assert said[-1] == "Redis is back"


def test_one_that_cannot_be_started_ends_it_with_one_sentence(embedded_redis: EmbeddedRedis) -> None:
    said: list[str] = []
    watch = ServiceWatch(said.append)
    address = watch.start("Redis", embedded_redis)
    process = embedded_redis.process()
    assert process
    kill(embedded_redis, process.pid)
    socket = Path(address.removeprefix("unix://"))
    socket.unlink(missing_ok=True)
    (socket / "in the way").mkdir(parents=True)
    for attempt in range(1, MOST_FAILURES):
        watch.look(LATER * 2 * attempt)  # its end is noticed
        watch.look(LATER * (2 * attempt + 1))
        assert "Redis did not start" in said[-1]
    watch.look(LATER * 100)
    with pytest.raises(ServiceGone, match="Redis ended and did not start again") as gone:
        watch.look(LATER * 101)
    assert "\n" not in str(gone.value)
