"""NVIDIA's driver API through ctypes: a context, and memory that two processes share through a descriptor.

Used on both sides: the supervisor creates memory and exports it, the child imports it. Needs the driver's
libcuda.so.1 and nothing else; no torch, no CUDA toolkit.
"""

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from typing import Any

_OUT_OF_MEMORY = 2
_POSIX_DESCRIPTOR, _PINNED, _DEVICE, _READ_AND_WRITE = 1, 1, 1, 3
#: Errors after which a context is lost for good: whatever is called next fails as well.
_LOST = frozenset({214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721})


class CudaError(Exception):
    """A driver call failed. ``lost`` says that the context cannot be used any more."""

    def __init__(self, call: str, code: int) -> None:
        self.code = code
        self.lost = code in _LOST
        self.out_of_memory = code == _OUT_OF_MEMORY
        super().__init__(f"{call}: {_words(code)} (CUDA error {code})")


class _Location(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("id", ctypes.c_int)]


class _AllocationProperties(ctypes.Structure):
    """``CUmemAllocationProp``: the flags at its end stay zero."""

    _fields_ = [
        ("kind", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL("libcuda.so.1")
    code = library.cuInit(0)
    if code:
        raise CudaError("cuInit", code)
    return library


def _words(code: int) -> str:
    text = ctypes.c_char_p()
    try:
        ctypes.CDLL("libcuda.so.1").cuGetErrorString(code, ctypes.byref(text))
    except OSError:
        return "no driver"
    return text.value.decode(errors="replace") if text.value else "unknown error"


def call(name: str, *arguments: object) -> None:
    """Calls one function of the driver. Raises CudaError, and OSError where there is no driver."""
    code = getattr(_library(), name)(*arguments)
    if code:
        raise CudaError(name, code)


def address(name: str) -> Any:
    """A function of the driver, for C code to call."""
    return getattr(_library(), name)


def use_device(ordinal: int) -> None:
    """Makes the primary context of a device current in this thread: the one that every CUDA runtime uses."""
    context = ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(ordinal))
    call("cuCtxSetCurrent", context)


def synchronize() -> None:
    """Waits until the device has done all work of this context, on every stream."""
    call("cuCtxSynchronize")


@dataclass(frozen=True)
class DeviceMemory:
    """``size`` bytes of device memory, mapped at ``address``."""

    handle: int
    address: int
    size: int

    def export(self) -> int:
        """A descriptor through which another process can map the same memory. The caller closes it."""
        descriptor = ctypes.c_int()
        call(
            "cuMemExportToShareableHandle",
            ctypes.byref(descriptor),
            ctypes.c_uint64(self.handle),
            ctypes.c_int(_POSIX_DESCRIPTOR),
            ctypes.c_uint64(0),
        )
        return descriptor.value

    def free(self) -> None:
        """Unmaps; the memory itself goes when the other side has unmapped it as well."""
        call("cuMemUnmap", ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
        call("cuMemAddressFree", ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
        call("cuMemRelease", ctypes.c_uint64(self.handle))


def rounded(size: int, ordinal: int) -> int:
    """``size`` in whole units of the device's allocations (2 MiB as a rule)."""
    unit = ctypes.c_size_t()
    properties = _properties(ordinal)
    call("cuMemGetAllocationGranularity", ctypes.byref(unit), ctypes.byref(properties), ctypes.c_int(0))
    return -(-max(size, 1) // unit.value) * unit.value


def create(size: int, ordinal: int) -> DeviceMemory:
    """New memory that can be exported; ``size`` must be rounded. Zeroed by nobody."""
    handle = ctypes.c_uint64()
    properties = _properties(ordinal)
    call(
        "cuMemCreate",
        ctypes.byref(handle),
        ctypes.c_size_t(size),
        ctypes.byref(properties),
        ctypes.c_uint64(0),
    )
    return _map(handle.value, size, ordinal)


def import_descriptor(descriptor: int, size: int, ordinal: int) -> DeviceMemory:
    """Maps what another process exported, and closes the descriptor."""
    handle = ctypes.c_uint64()
    try:
        call(
            "cuMemImportFromShareableHandle",
            ctypes.byref(handle),
            ctypes.c_void_p(descriptor),
            ctypes.c_int(_POSIX_DESCRIPTOR),
        )
    finally:
        os.close(descriptor)
    return _map(handle.value, size, ordinal)


def _properties(ordinal: int) -> _AllocationProperties:
    return _AllocationProperties(_PINNED, _POSIX_DESCRIPTOR, _Location(_DEVICE, ordinal))


def _map(handle: int, size: int, ordinal: int) -> DeviceMemory:
    address = ctypes.c_uint64()
    length, nothing = ctypes.c_size_t(size), ctypes.c_uint64(0)
    call("cuMemAddressReserve", ctypes.byref(address), length, ctypes.c_size_t(0), nothing, nothing)
    call("cuMemMap", address, length, ctypes.c_size_t(0), ctypes.c_uint64(handle), nothing)
    access = _Access(_Location(_DEVICE, ordinal), _READ_AND_WRITE)
    call("cuMemSetAccess", address, length, ctypes.byref(access), ctypes.c_size_t(1))
    return DeviceMemory(handle, address.value, size)


class ArrayInterface:
    """Shows device memory to torch as bytes, without copying."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "strides": None,
        }


class Stream:
    """A stream that waits for the legacy default stream and is waited for by it: kernels may use either."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        call("cuStreamCreate", ctypes.byref(self.handle), ctypes.c_uint(0))


class Event:
    """A time stamp on a stream."""

    def __init__(self) -> None:
        self._event = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(self._event), ctypes.c_uint(0))

    def record(self, stream: ctypes.c_void_p | None) -> None:
        call("cuEventRecord", self._event, stream)

    def seconds_since(self, earlier: "Event") -> float:
        """Both must have passed."""
        milliseconds = ctypes.c_float()
        call("cuEventElapsedTime", ctypes.byref(milliseconds), earlier._event, self._event)
        return milliseconds.value / 1000
