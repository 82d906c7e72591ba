"""The C entry point of a task, generated from its spec so that starter, statement and caller never differ."""

from runners.contract.spec import C_TYPE, CUDA_TYPE, TaskSpec
from runners.contract.vocabulary import Language

#: The one name every submission defines, in every language.
ENTRY_POINT = "kernel"


def declaration(spec: TaskSpec, language: Language) -> str:
    """What a submission in ``language`` must define, as source text.

    In Python that is ``python_signature``. In C a declaration: inputs come first, then outputs, then the
    sizes, each in the order of the task file; on CUDA the stream last.
    """
    if language == Language.PYTHON:
        return python_signature(spec)
    types = CUDA_TYPE if language == Language.CUDA else C_TYPE
    parameters = [f"const {types[tensor.dtype]}* {tensor.name}" for tensor in spec.inputs]
    parameters += [f"{types[tensor.dtype]}* {tensor.name}" for tensor in spec.outputs]
    parameters += [f"int64_t {name}" for name in spec.sizes]
    if language == Language.CUDA:
        parameters.append("cudaStream_t stream")
    return f'extern "C" void {ENTRY_POINT}({", ".join(parameters)});'


def python_signature(spec: TaskSpec) -> str:
    """The function a ``python`` submission must define."""
    returned = ", ".join(tensor.name for tensor in spec.outputs)
    inputs = ", ".join(tensor.name for tensor in spec.inputs)
    return f"def {ENTRY_POINT}({inputs}):  # returns {returned}, or takes out and writes into it"
