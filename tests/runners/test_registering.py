"""Registering a runner releases the dead ones of its own place, and nobody else's."""

import os
import socket
from collections.abc import Callable

import pytest

from runners.models import Device, Evaluation, Runner
from runners.services import devices, evaluations

NOBODY = 2**22 + 1  # above the largest process id that Linux hands out


@pytest.mark.parametrize(
    ("host", "released"),
    [
        (devices.process_place(), True),
        (socket.gethostname(), False),
        (f"{socket.gethostname()} another-boot", False),
    ],
)
def test_only_the_dead_of_this_place_are_released(
    device: Device,
    enqueue: Callable[..., Evaluation],
    make_runner: Callable[[], Runner],
    host: str,
    released: bool,
) -> None:
    other = make_runner()
    Runner.objects.filter(pk=other.pk).update(host=host, pid=NOBODY)
    evaluation = enqueue()
    assert evaluations.claim_next(queue=device.slug, runner=other) is not None
    mine = devices.register_runner(device=device, tier="T2", layers={})
    assert (mine.host, mine.pid) == (devices.process_place(), os.getpid())
    other.refresh_from_db()
    evaluation.refresh_from_db()
    assert (other.stopped_at is not None, evaluation.status == "queued") == (released, released)
