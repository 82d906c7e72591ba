"""torch's own choices of precision, the same wherever torch computes for a verdict or for a submission."""

import torch


def be_strict() -> None:
    """Full precision in every product and sum, and no search for the fastest convolution at run time.

    torch's defaults differ from version to version and from library to library: convolutions round to TF32
    where products do not. A submission may choose otherwise after this; its results are judged as they are.
    """
    torch.set_float32_matmul_precision("highest")
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = False
    matmul.allow_fp16_reduced_precision_reduction = False
    matmul.allow_bf16_reduced_precision_reduction = False
    cudnn = torch.backends.cudnn
    cudnn.allow_tf32 = False
    cudnn.benchmark = False  # which algorithm wins varies from run to run
    cudnn.deterministic = False  # what varies is reported, see contract/result.py, and may be fast
