"""Loads a submission for a CUDA device and calls it when told to."""

from runners.harness import child
from runners.harness.control import Control
from runners.harness.cuda_place import CudaPlace


def main(control: Control) -> None:
    child.serve(control, CudaPlace())
