"""What NVIDIA's management library says of a GPU: clocks, temperature, throttling, who else uses it.

Through ctypes, so that nothing must be installed. Everything is best effort: a driver that does not answer a
question leaves that fact out.
"""

import ctypes
import os
from collections.abc import Collection, Sequence
from typing import Any

from runners.sandbox import process_tree

_MOST_PROCESSES = 64
_OURS = 2  # processes of one evaluation on the GPU: the supervisor and the submission's
_SM, _MEMORY = 1, 2
_TEMPERATURE_OF_GPU = 0
#: Reasons that make a kernel slower than the same kernel was a minute ago.
_SLOWING = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal limit",
    0x40: "hardware thermal limit",
    0x80: "power brake",
}


class _Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]


class GpuState:
    """The GPU that nvidia-smi numbers ``index``."""

    def __init__(self, index: int = 0) -> None:
        self._library: ctypes.CDLL | None = None
        self._device = ctypes.c_void_p()
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if library.nvmlInit_v2() != 0:
            return
        code = library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(self._device))
        if code == 0:
            self._library = library

    def read(self) -> dict[str, Any]:
        """Clocks in MHz, temperature in °C, power in W, memory in bytes; empty without the library."""
        if self._library is None:
            return {}
        reasons = self._number("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong)
        power = self._number("nvmlDeviceGetPowerUsage")
        facts: dict[str, Any] = {
            "sm_clock": self._number("nvmlDeviceGetClockInfo", first=_SM),
            "memory_clock": self._number("nvmlDeviceGetClockInfo", first=_MEMORY),
            "temperature": self._number("nvmlDeviceGetTemperature", first=_TEMPERATURE_OF_GPU),
            "power": power / 1000 if power is not None else None,
            "throttled": None if reasons is None else slowing(reasons),
            "processes": self._processes(),
        }
        return {name: value for name, value in facts.items() if value is not None}

    def _number(
        self,
        name: str,
        kind: type[Any] = ctypes.c_uint,
        first: int | None = None,
    ) -> int | None:
        value = kind()
        arguments = [] if first is None else [ctypes.c_int(first)]
        function = getattr(self._library, name, None)
        if function is None or function(self._device, *arguments, ctypes.byref(value)) != 0:
            return None
        return int(value.value)

    def _processes(self) -> int | None:
        """How many processes compute on the GPU that are not ours."""
        function = getattr(self._library, "nvmlDeviceGetComputeRunningProcesses_v3", None)
        count = ctypes.c_uint(_MOST_PROCESSES)
        found = (_Process * _MOST_PROCESSES)()
        if function is None or function(self._device, ctypes.byref(count), found) != 0:
            return None
        return strangers([item.pid for item in found[: count.value]], _ours())


def strangers(pids: Sequence[int], ours: Collection[int]) -> int:
    """How many of ``pids`` are none of ``ours``, this process and one below it.

    In a container pids are the host's and none of ours is known: the two that there must be are taken off.
    """
    others = [pid for pid in pids if pid not in ours]
    return len(others) if len(others) < len(pids) else max(0, len(pids) - _OURS)


def _ours() -> set[int]:
    return {os.getpid(), *process_tree.descendants(os.getpid())}


def slowing(reasons: int) -> list[str]:
    """The words for a bit mask of throttle reasons; idling and the owner's own clock settings are none."""
    return [word for bit, word in _SLOWING.items() if reasons & bit]
