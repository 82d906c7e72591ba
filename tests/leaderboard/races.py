"""Calls that happen at the same moment."""

import threading
from collections.abc import Callable

from django.db import connection


def together(*calls: Callable[[], object]) -> list[BaseException]:
    """Run all at the same moment, each with a connection of its own; what they raised."""
    start = threading.Barrier(len(calls))
    raised: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        try:
            start.wait(timeout=60)
            call()
        except BaseException as error:  # noqa: BLE001 reported by the test
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    return raised
