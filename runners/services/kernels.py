"""Storing kernels and task contracts under the digest of their content."""

import hashlib

from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Language
from runners.models import Kernel, SpecDocument


def kernel_digest(language: Language, source: str) -> str:
    """SHA-256 over language and source, 64 hex digits."""
    return hashlib.sha256(f"{language}\0{source}".encode()).hexdigest()


def store_kernel(*, language: Language, source: str) -> Kernel:
    """The kernel of this text; equal texts share a row."""
    kernel, _ = Kernel.objects.get_or_create(
        digest=kernel_digest(language, source), defaults={"language": language, "source": source}
    )
    return kernel


def store_spec(*, spec: TaskSpec) -> SpecDocument:
    """The stored contract; equal contracts share a row."""
    document, _ = SpecDocument.objects.get_or_create(
        digest=spec.digest, defaults={"document": spec.to_document()}
    )
    return document
