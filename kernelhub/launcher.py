"""Starting, watching and stopping the processes of one machine."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from django.conf import settings

from kernelhub import environment, frontend
from kernelhub.embedded.addresses import Addresses, forget_addresses, write_addresses
from kernelhub.embedded.postgres import EmbeddedPostgres
from kernelhub.embedded.redis import EmbeddedRedis, RedisStartError
from kernelhub.embedded.watch import ServiceGone, ServiceWatch
from kernelhub.restarts import Restarts
from kernelhub.secret_key import local_secret_key
from runners.devices import detect
from runners.instance_lock import InstanceTaken, lock_instance
from runners.lifetime import set_on_signals
from runners.sandbox.privileges import die_with_parent

_STOP_SECONDS = 15  # from the polite signal to the hard one
_START_SECONDS = 60  # until the site must answer
_WEB_MESSAGE_BYTES = 64 * 1024  # largest WebSocket message accepted from a browser


class LaunchError(RuntimeError):
    """The site cannot start; the message is one sentence that says what to do."""


@dataclass
class _Child:
    name: str
    command: list[str]
    environment: dict[str, str]
    dies_with_us: bool  # runners and the worker notice a dead launcher themselves, and give their work back
    process: subprocess.Popen[bytes] | None = None
    restarts: Restarts = field(default_factory=Restarts)


class Launcher:
    """The parent of every process of a local installation."""

    def __init__(self, say: Callable[[str], object], *, fetch_model: bool = False) -> None:
        self._say = say
        self._fetch_model = fetch_model
        self._stop = threading.Event()
        self._children: list[_Child] = []
        self._data = settings.DATA_DIR
        self._postgres = EmbeddedPostgres(self._data / "postgres")
        self._redis = EmbeddedRedis(self._data / "redis")
        self._services = ServiceWatch(say)
        # The started processes get the addresses as plain variables, so the *_FILE forms must not come along.
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL_FILE", "REDIS_URL_FILE")
        }

    def run(self) -> None:
        """Start everything, watch it, and return once all of it has ended. Raises LaunchError."""
        # SIGHUP: the terminal was closed
        set_on_signals(self._stop, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        self._check_port()  # first: a site that can't start leaves no folder
        self._check_folder()
        try:
            lock = lock_instance(self._data, "launcher")
        except InstanceTaken:
            raise LaunchError(
                f"KernelHub already runs on {self._data}: stop it, or set KERNELHUB_DATA"
            ) from None
        with lock:
            try:
                self._start()
                self._watch()
            finally:
                self._end()

    def _check_folder(self) -> None:
        try:
            self._data.mkdir(parents=True, exist_ok=True)
            probe = self._data / ".writable"
            probe.touch()
            probe.unlink()
            if not environment.text("SECRET_KEY"):
                local_secret_key(self._data)  # before there are several processes that need the same
        except OSError as error:
            raise LaunchError(
                f"cannot write to {self._data} ({error.strerror}): set KERNELHUB_DATA"
            ) from None

    def _check_port(self) -> None:
        family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind((settings.HOST, settings.PORT))
            except (OSError, OverflowError) as error:
                why = getattr(error, "strerror", None) or error
                raise LaunchError(
                    f"cannot listen on {settings.HOST}:{settings.PORT} ({why}): set PORT or HOST"
                ) from None

    def _start(self) -> None:
        try:
            frontend.build(settings.BASE_DIR)
        except frontend.BuildError as error:
            raise LaunchError(f"the front-end was not built: {error}") from None
        self._start_services()
        for command in (
            ["migrate", "--verbosity", "0"],
            ["load_tasks"],
            ["collectstatic", "--noinput", "-v", "0"],
        ):
            if self._stop.is_set():
                return
            self._manage_once(command)
        web = [sys.executable, "-m", "uvicorn", *self._web_options()]
        self._add("web", web, dies_with_us=True, KERNELHUB_DB_POOL="1")
        self._add("worker", self._manage("worker"))
        self._add("search", self._manage("search_worker"), dies_with_us=True)
        if settings.SURROGATE:
            extra = ["--fetch-model"] if self._fetch_model else []
            self._add("surrogate", self._manage("surrogate", *extra), dies_with_us=True)
        for name in self._devices():
            self._add(f"runner {name}", self._manage("runner", "--device", name))
        for child in self._children:
            self._spawn(child)
        self._wait_for_web()

    def _start_services(self) -> None:
        database_url, redis_url = environment.text("DATABASE_URL"), environment.text("REDIS_URL")
        try:
            if not database_url:
                database_url = self._services.start("PostgreSQL", self._postgres)
            if not redis_url:
                redis_url = self._services.start("Redis", self._redis)
        except RedisStartError as error:
            raise LaunchError(str(error)) from None
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            raise LaunchError(
                f"PostgreSQL did not start, see {self._data / 'postgres' / 'log'}: {error}"
            ) from None
        write_addresses(self._data, Addresses(database_url, redis_url))
        self._environment |= {"DATABASE_URL": database_url, "REDIS_URL": redis_url}

    def _devices(self) -> list[str]:
        if settings.DEVICES == ["auto"]:
            return [device.instance for device in detect()]
        return list(settings.DEVICES)

    def _web_options(self) -> list[str]:
        options = ["kernelhub.asgi:application", "--host", settings.HOST, "--port", str(settings.PORT)]
        options += ["--ws-max-size", str(_WEB_MESSAGE_BYTES), "--lifespan", "off", "--no-access-log"]
        if not settings.NUM_PROXIES:
            options.append("--no-proxy-headers")  # uvicorn trusts those of 127.0.0.1 otherwise
        return [*options, "--timeout-graceful-shutdown", "5", "--log-level", "warning"]

    def _manage(self, *words: str) -> list[str]:
        return [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *words]

    def _manage_once(self, words: list[str]) -> None:
        done = subprocess.run(self._manage(*words), env=self._environment, check=False)
        if done.returncode != 0 and not self._stop.is_set():
            raise LaunchError(f"manage.py {words[0]} failed; its message stands above")

    def _add(self, name: str, command: list[str], *, dies_with_us: bool = False, **extra: str) -> None:
        self._children.append(_Child(name, command, {**self._environment, **extra}, dies_with_us))

    def _spawn(self, child: _Child) -> None:
        # A session of its own: Ctrl-C reaches only the launcher, which stops the children in order.
        child.process = subprocess.Popen(
            child.command,
            env=child.environment,
            start_new_session=True,
            preexec_fn=partial(die_with_parent, os.getpid()) if child.dies_with_us else None,
        )
        child.restarts.begin(time.monotonic())

    def _wait_for_web(self) -> None:
        end = time.monotonic() + _START_SECONDS
        web = self._children[0]
        while not self._stop.is_set():
            if web.process is not None and web.process.poll() is not None:
                raise LaunchError("the web process ended at once; its message stands above")
            try:
                socket.create_connection((settings.HOST, settings.PORT), timeout=1).close()
            except OSError:
                if time.monotonic() > end:
                    raise LaunchError(f"the site did not answer within {_START_SECONDS} s") from None
                self._stop.wait(0.05)
                continue
            host = f"[{settings.HOST}]" if ":" in settings.HOST else settings.HOST
            self._say(f"KernelHub is at http://{host}:{settings.PORT}/ — Ctrl-C stops it")
            return

    def _watch(self) -> None:
        """Start again what dies, with growing pauses, until asked to stop. Raises LaunchError."""
        while not self._stop.wait(0.2):
            now = time.monotonic()
            try:
                self._services.look(now)
            except ServiceGone as error:
                raise LaunchError(str(error)) from None
            for child in self._children:
                if child.process is None or child.process.poll() is None:
                    continue
                if child.restarts.plan(now):
                    code, pause = child.process.returncode, child.restarts.pause
                    self._say(f"{child.name} ended with {code}; starting it again in {pause:.0f} s")
                elif child.restarts.due(now):
                    self._spawn(child)

    def _end(self) -> None:
        """Runners first, so that they give their work back while the database is there; services last."""
        if self._children:
            self._say(f"stopping: what runs is given back first, {_STOP_SECONDS:.0f} s at most")
        for child in reversed(self._children):
            if child.process is not None and child.process.poll() is None:
                child.process.send_signal(signal.SIGTERM)
        end = time.monotonic() + _STOP_SECONDS
        for child in self._children:
            if child.process is None:
                continue
            try:
                child.process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
        forget_addresses(self._data)
        self._redis.stop()
        self._postgres.stop()
        if self._children:
            self._say("stopped")
