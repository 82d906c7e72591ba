"""Calling a shared library with a plain C entry point."""

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

from runners.harness.memory import Mapped


class EntryPointError(Exception):
    """The library cannot be loaded or lacks the entry point."""


class CKernel:
    """``kernel(inputs…, outputs…, sizes…)``: pointers first, then 64-bit sizes."""

    def __init__(self, library: int) -> None:
        """``library`` is a descriptor of the shared library. Loading runs its constructors."""
        try:
            loaded = ctypes.CDLL(f"/proc/self/fd/{library}")
            self._function = loaded.kernel
        except AttributeError:
            raise EntryPointError('the library exports no symbol "kernel": declare it extern "C"') from None
        except OSError as error:
            raise EntryPointError(f"the library does not load: {error}") from None
        finally:
            os.close(library)
        self._function.restype = None
        self._library = loaded

    def function(self, name: str) -> Any:
        """Another function of the library. Raises AttributeError when there is none."""
        return getattr(self._library, name)

    def bind(self, case: dict[str, Any], inputs: Mapped, outputs: Mapped, slot: int) -> Callable[..., Any]:
        """One call on one slot, all arguments converted beforehand; more may follow when it is called."""
        arguments: list[Any] = []
        for arena, tensors in ((inputs, case["inputs"]), (outputs, case["outputs"])):
            base = arena.address + slot * arena.stride
            arguments += [ctypes.c_void_p(base + tensor["offset"]) for tensor in tensors]
        arguments += [ctypes.c_int64(size) for size in case["sizes"]]
        return functools.partial(self._function, *arguments)
