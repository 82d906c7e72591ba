"""The life of the surrogate worker: load what can be loaded, serve two queues, stop on a signal.

Nothing waits for this process: without it submissions run as ever and carry no forecast.
"""

import logging
import subprocess
import sys
import threading
from importlib import import_module
from typing import Any

import dramatiq
from django.conf import settings
from django.db import close_old_connections

from runners.lifetime import Lifetime
from surrogate import live, tasks
from surrogate.desk import Desk
from surrogate.fetch import converted_folder, weights_path
from surrogate.forecasters.base import Forecaster
from surrogate.llm.config import NO_KEY, Config
from surrogate.services import bell
from surrogate.services.spending import DatabaseLedger, daily_limit

logger = logging.getLogger(__name__)

#: The worker looks for work by itself this often, seconds: rings get lost.
_LOOK_SECONDS = 5
#: One for stored questions and learning, which take turns, the others for typed texts: those are answered in
#: milliseconds, and one of them at a time is read by a language model.
_THREADS = 5
#: Longest that Claude is waited for, seconds: the measurement is on its way meanwhile.
_CLAUDE_SECONDS = 45.0

_desk: Desk | None = None


def current_desk() -> Desk:
    if _desk is None:
        raise RuntimeError("this process is no surrogate worker: start one with manage.py surrogate")
    return _desk


class Server:
    """One worker process."""

    def __init__(self, *, fetch_model: bool) -> None:
        self._fetch_model = fetch_model
        self._lifetime = Lifetime()
        self._problems: dict[str, str] = {}
        self._desk = Desk()

    def run(self) -> None:
        """Serve until SIGTERM, SIGINT, or until the process that started this one is gone."""
        global _desk
        _desk = self._desk
        self._desk.learn()
        queues = {tasks.QUEUE, tasks.LIVE_QUEUE}
        worker = dramatiq.Worker(
            dramatiq.get_broker(), queues=queues, worker_threads=_THREADS, worker_timeout=200
        )
        worker.start()
        threading.Thread(target=self._warm, name="warm", daemon=True).start()
        logger.info("forecasting")
        self._say()
        for _ in self._lifetime.rounds(_LOOK_SECONDS):
            bell.ring()
            self._say()
        worker.stop(timeout=5_000)

    def _say(self) -> None:
        taught = self._desk.taught
        live.say_status(
            live.WorkerStatus(
                members=self._desk.versions(),
                weights=dict(taught.weights.of) if taught else {},
                problems=dict(self._problems),
                outcomes=taught.outcomes if taught else 0,
            )
        )

    def _warm(self) -> None:
        """Load the slow members, one after the other, while the quick ones serve already."""
        for name, load in (("anthropic", self._claude), ("local", self._local)):
            try:
                forecaster = load()
                if forecaster is not None and not self._lifetime.over.is_set():
                    self._desk.add(name, forecaster)
                    logger.info("%s is ready", name)
            except ValueError as error:  # a wrong setting
                self._problems[name] = f"{error}."
            except Exception as error:
                # What is optional must not bring down what is not.
                logger.exception("the forecaster %s cannot be used", name)
                self._problems[name] = f"It failed to load: {type(error).__name__}."
            finally:
                self._say()
                close_old_connections()

    def _claude(self) -> Forecaster | None:
        config = Config.from_environment(settings.LANGUAGE_MODELS)
        if not config.has_key:
            self._problems["anthropic"] = f"{NO_KEY}."
            return None
        from surrogate.forecasters.anthropic import AnthropicForecaster

        ledger = DatabaseLedger(daily_limit(settings.LANGUAGE_MODELS))
        return AnthropicForecaster(
            config, ledger, deadline=_CLAUDE_SECONDS, should_stop=self._lifetime.over.is_set
        )

    def _local(self) -> Forecaster | None:
        named = settings.LANGUAGE_MODELS["KERNELHUB_LOCAL_MODEL"].strip()
        weights = weights_path(settings.DATA_DIR)
        if not named and self._fetch_model and not converted_folder(weights).is_dir():
            self._problems["local"] = "Its weights are being fetched and converted, which takes minutes."
            fetch = [sys.executable, str(settings.BASE_DIR / "manage.py"), "fetch_model"]
            subprocess.run(fetch, check=False, stdin=subprocess.DEVNULL)
        # Looked at before torch is imported, which takes seconds and half a gigabyte.
        if not named and not (weights.is_file() or converted_folder(weights).is_dir()):
            self._problems["local"] = "Its weights are not here; manage.py fetch_model brings them."
            return None
        try:
            # By name: whoever imports this module must not come to torch that way.
            local: Any = import_module("surrogate.forecasters.local")
        except ImportError:
            self._problems["local"] = "Its packages are not installed (pip install kernelhub[llm])."
            return None
        forecaster = local.build(settings.LANGUAGE_MODELS)
        if problem := forecaster.load():
            self._problems["local"] = problem
            return None
        self._problems.pop("local", None)
        found: Forecaster = forecaster
        return found
