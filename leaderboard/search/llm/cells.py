"""Kinds of kernels that a model writes: the archive keeps the best of each."""

from surrogate.contract.request import KernelText
from surrogate.features.source import SOURCE_FEATURES, source_features

_KINDS = ("shared_memory", "vector_access", "intrinsics", "threads", "tensor_cores", "products")


def cell_of(kernel: KernelText) -> tuple[str, ...]:
    """What the kernel makes use of; two that use the same compete for one place in an island's archive."""
    counts = dict(zip(SOURCE_FEATURES, source_features(kernel.language, kernel.source), strict=True))
    return tuple(name for name in _KINDS if counts[name]) or ("plain",)
