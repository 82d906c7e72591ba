"""One sandboxed process tree as the supervisor sees it: messages, output, weight, and how it died."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from runners.contract.limits import MAX_OUTPUT_BYTES
from runners.contract.vocabulary import Verdict
from runners.harness.control import MAX_PACKET
from runners.sandbox import process_tree
from runners.sandbox.births import Births
from runners.sandbox.bounds import available_memory
from runners.sandbox.spawn import Plan, spawn
from runners.supervisor.outcome import Ended
from runners.supervisor.stop import Stop

_POLL_MILLISECONDS = 50
_BURIAL_SECONDS, _LAST_SECONDS = 0.2, 10.0


class Died(Exception):
    """The process tree is gone; the text says how, starting with a verb."""


class Child:
    """Spawns ``plan``. Close it whatever happens: that kills all that runs inside."""

    def __init__(self, plan: Plan, stop: Stop) -> None:
        self._bounds = plan.bounds
        self._stop = stop
        self._sandbox = spawn(plan)
        self._root = self._sandbox.root
        self._gated = plan.gated
        self._births: Births | None = None
        self._output = {self._sandbox.stdout: bytearray(), self._sandbox.stderr: bytearray()}
        self.truncated = False
        self._poll = select.poll()
        for descriptor in (self._sandbox.control.fileno(), *self._output):
            self._poll.register(descriptor, select.POLLIN)

    def alive(self) -> bool:
        """Whether somebody is there to be asked."""
        if self._sandbox.process.poll() is not None:
            return False
        control, gone = self._sandbox.control.fileno(), select.POLLHUP | select.POLLERR
        return not any(found == control and event & gone for found, event in self._poll.poll(0))

    def heed(self, stop: Stop) -> None:
        """From now on ``stop`` says when to give up waiting."""
        self._stop = stop

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Sends one message. Raises Died when nobody is there to read it."""
        try:
            self._sandbox.control.settimeout(5)
            socket.send_fds(self._sandbox.control, [json.dumps(message).encode()], list(descriptors))
        except OSError:
            raise Died(self._how()) from None

    def receive(self, limit: float, what: str) -> dict[str, Any]:
        """The next message, waiting ``limit`` seconds at most.

        Meanwhile drains the output pipes, lets processes be born, and polls the bounds. Raises Died, and
        Ended for a limit that is hit; ``what`` completes "… took longer than 30 s".
        """
        end = time.monotonic() + limit
        next_weighing = 0.0
        while True:
            for descriptor, event in self._poll.poll(_POLL_MILLISECONDS):
                message = self._attend(descriptor, event)
                if message is not None:
                    return message
            now = time.monotonic()
            if now > end:
                raise Ended(Verdict.TIMEOUT, f"{what} took longer than {limit:g} s.")
            self._stop.check()
            if now > next_weighing:
                self.check_weight()
                # A tree of many processes is slow to list: spend a tenth of the time on it at most.
                next_weighing = time.monotonic() + 10 * (time.monotonic() - now)

    def expect(self, event: str, limit: float, what: str) -> dict[str, Any]:
        """The next message, which must be ``event``; an ``error`` is returned as well."""
        message = self.receive(limit, what)
        if message.get("event") not in (event, "error"):
            raise Ended(Verdict.RUNTIME_ERROR, "The process broke the harness's protocol.")
        return message

    def check_weight(self) -> None:
        weight = process_tree.weigh(self._root)
        for used, allowed, text in (
            (weight.processes, self._bounds.processes, f"{self._bounds.processes} processes"),
            (weight.memory, self._bounds.memory, f"{self._bounds.memory / 2**30:.3g} GiB of memory"),
            (weight.threads, self._bounds.threads, f"{self._bounds.threads} threads"),
        ):
            if used > allowed:
                raise Ended(Verdict.RESOURCE_LIMIT, f"The submission used more than {text}.")
        if available_memory() < self._bounds.reserve:
            text = "The machine ran short of memory while the submission ran: less than "
            text += f"{self._bounds.reserve / 2**20:.3g} MiB was left."
            raise Ended(Verdict.RESOURCE_LIMIT, text)

    def freeze(self) -> list[int]:
        """Stops all that runs inside; the pids. Raises Died when nothing does."""
        try:
            pids = process_tree.freeze(self._root)
        except process_tree.NotFrozenError:
            raise Ended(
                Verdict.RESOURCE_LIMIT, "The submission could not be stopped between calls."
            ) from None
        if not pids:
            raise Died(self._how())
        return pids

    def flush(self) -> None:
        """Asks the process to write out what it has buffered; it is given a second, and may be dead."""
        with contextlib.suppress(Died, Ended):
            self.send({"do": "flush"})
            process_tree.thaw(self.freeze())
            self.expect("ready", 1.0, "Writing out")

    def output(self) -> tuple[str, str]:
        """stdout and stderr so far, capped; whatever is no UTF-8 is replaced."""
        for descriptor in self._output:
            self._drain(descriptor)
        out, err = (bytes(data).decode(errors="replace") for data in self._output.values())
        return out, err

    def kill(self) -> None:
        """Kills every process, without waiting for its end. ``close`` follows."""
        process_tree.kill(self._root)
        if not process_tree.descendants(self._root):
            self._sandbox.process.kill()  # it has not started anything yet

    def close(self) -> None:
        """Kills every process and releases everything. Waits about ten seconds at most."""
        self.kill()
        # bubblewrap ends by itself once the kernel has buried everything in the namespace. One that has only
        # begun to start has nothing in it yet: what it starts is killed the next time.
        end = time.monotonic() + _LAST_SECONDS
        while not self._buried() and time.monotonic() < end:
            self.kill()
        self._sandbox.process.kill()
        if not self._buried():
            # A driver may hold a process for ever: the machine is ill then, and the verdict must not wait.
            sys.stderr.write(f"process {self._sandbox.process.pid} of a sandbox does not die\n")
        if self._births is not None:
            self._births.close()
        self._sandbox.close()

    def _buried(self) -> bool:
        try:
            self._sandbox.process.wait(timeout=_BURIAL_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _attend(self, descriptor: int, event: int) -> dict[str, Any] | None:
        """Takes what waits on ``descriptor``: a message, output, or a process that wants to be born."""
        if descriptor == self._sandbox.control.fileno():
            if not self._gated or self._births is not None:
                return self._read()
            self._births = self._gate()
            self._poll.register(self._births.descriptor, select.POLLIN)
        elif self._births is not None and descriptor == self._births.descriptor:
            if event & select.POLLIN:
                self._births.admit()
            else:
                self._poll.unregister(descriptor)
        else:
            self._drain(descriptor)
        return None

    def _gate(self) -> Births:
        """The harness's first word, before it has seen anything of the submission."""
        data, descriptors, _, _ = socket.recv_fds(self._sandbox.control, MAX_PACKET, 1)
        if not data or not descriptors:
            raise Died(self._how())
        return Births(descriptors[0])

    def _read(self) -> dict[str, Any]:
        try:
            data = self._sandbox.control.recv(MAX_PACKET)
        except OSError:
            data = b""
        if not data:
            raise Died(self._how())
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise Ended(Verdict.RUNTIME_ERROR, "The process broke the harness's protocol.")
        return message

    def _drain(self, descriptor: int) -> None:
        """Reads what is there, a bounded number of times, and keeps what the cap allows."""
        kept = self._output[descriptor]
        for _ in range(16):
            try:
                data = os.read(descriptor, 65536)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                # A closed pipe would wake every poll from now on.
                with contextlib.suppress(KeyError, OSError):
                    self._poll.unregister(descriptor)
                return
            room = MAX_OUTPUT_BYTES - len(kept)
            kept += data[:room]
            self.truncated = self.truncated or len(data) > room

    def _how(self) -> str:
        """How the process ended: ``crashed with SIGSEGV``, ``exited with status 3 …``."""
        try:
            code = self._sandbox.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "closed its control channel"
        number = -code if code < 0 else code - 128
        if number > 0:
            try:
                return f"crashed with {signal.Signals(number).name}"
            except ValueError:
                pass
        return f"exited with status {code} instead of returning"
