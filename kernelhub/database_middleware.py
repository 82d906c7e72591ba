"""Database connections of worker threads: dropped when dead, closed when a thread ends."""

from typing import Any

import dramatiq
from django.db import close_old_connections, connections


class DatabaseConnections(dramatiq.Middleware):
    def before_process_message(self, broker: dramatiq.Broker, message: Any) -> None:
        close_old_connections()

    def after_process_message(
        self, broker: dramatiq.Broker, message: Any, *, result: Any = None, exception: Any = None
    ) -> None:
        close_old_connections()

    def before_worker_thread_shutdown(self, broker: dramatiq.Broker, thread: Any) -> None:
        connections.close_all()
