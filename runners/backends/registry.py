"""The languages that this engine can build."""

from runners.backends.base import Backend
from runners.backends.cpp.backend import CppBackend
from runners.backends.cuda.backend import CudaBackend
from runners.backends.python.backend import PythonBackend
from runners.contract.vocabulary import Language

BACKENDS: dict[Language, Backend] = {
    Language.PYTHON: PythonBackend(),
    Language.CPP: CppBackend(),
    Language.CUDA: CudaBackend(),
}
