"""Whose kernels ran, by their names; nothing here starts a process."""

from typing import Any

import pytest

from runners.contract.launches import (
    MOST_LAUNCHES,
    compiled_launches,
    is_library_kernel,
    is_library_operator,
    told_launches,
    work_of,
)
from runners.contract.vocabulary import DeviceKind


@pytest.mark.parametrize(
    "name",
    [
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>",
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>",
        "ampere_sgemm_128x64_nn",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
        "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT",
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>",
        "void cub::DeviceReduceKernel<cub::DeviceReducePolicy>",
        "void splitKreduce_kernel<32, 16, int, float>",
        "void gemv2T_kernel_val<int, int, float>",
        "triton_poi_fused_add_mul_0",
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits>",
    ],
)
def test_kernels_of_libraries(name: str) -> None:
    assert is_library_kernel(name)


@pytest.mark.parametrize(
    "name",
    [
        "softmax_kernel",
        "my_gemm(float const*, float const*, float*, long)",
        "void affine<float>(float const*, float*, long)",
        "triton_softmax",
        "_fused_rows",
        "Memcpy DtoD (Device -> Device)",
        "Memset (Device)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
        "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(...)>",
        "void cub::CUB_300001_SM_900::detail::EmptyKernel<void>()",
    ],
)
def test_own_kernels_and_plain_work(name: str) -> None:
    assert not is_library_kernel(name)


def test_operators_that_only_move_or_make_memory_are_no_librarys_work() -> None:
    assert is_library_operator("aten::softmax")
    assert is_library_operator("Torch-Compiled Region: 0/0")
    for name in ("aten::empty", "aten::copy_", "aten::as_strided", "mine::softmax", "cudaLaunchKernel"):
        assert not is_library_operator(name)


def told(name: str, *, on_device: bool = False, **changes: Any) -> dict[str, Any]:
    return {"name": name, "calls": 1, "seconds": 0.5, "on_device": on_device, **changes}


def work(kind: DeviceKind, *names: dict[str, Any], library_call: bool = False, seen: bool = True) -> str:
    finding: Any = {"rule": "library_call", "line": 1, "message": "", "refuses": False}
    return work_of(kind, told_launches(list(names)), [finding] if library_call else [], seen=seen)


def test_kernels_seen_on_the_gpu_decide_whatever_the_source_looks_like() -> None:
    own, library = told("mine", on_device=True), told("ampere_sgemm_32x32", on_device=True)
    assert work(DeviceKind.CUDA, own, told("aten::sum"), library_call=True) == "own"
    assert work(DeviceKind.CUDA, own, library) == "library"


def test_where_no_kernel_was_seen_operators_and_source_decide() -> None:
    assert work(DeviceKind.CUDA, told("aten::mm")) == "library"
    assert work(DeviceKind.CPU, told("aten::empty")) == "own"
    assert work(DeviceKind.CPU, told("aten::empty"), library_call=True) == "library"
    assert work(DeviceKind.CPU, seen=False) == ""


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        [None, 1, "text"],
        [told("a", calls="many")],
        [told("a", seconds=float("nan"))],
        [told("a", seconds=-1)],
        [told("a", calls=True)],
        [{"name": 5, "calls": 1, "seconds": 1}],
    ],
)
def test_whatever_is_malformed_in_a_strangers_answer_is_left_out(answer: Any) -> None:
    assert told_launches(answer) == []


def test_a_strangers_answer_is_bounded() -> None:
    found = told_launches([told("n" * 5000)] * 5000)
    assert len(found) == MOST_LAUNCHES
    assert len(found[0]["name"]) == 160


def compiled_work(*names: str, library_call: bool = False) -> str:
    report: Any = {"functions": [{"name": name, "registers": 3} for name in names]}
    finding: Any = {"rule": "library_call", "line": 1, "message": "", "refuses": False}
    findings = [finding] if library_call else []
    return work_of(DeviceKind.CUDA, compiled_launches(report), findings, seen=True)


def test_functions_of_a_compiled_source_are_its_own_or_a_headers() -> None:
    report: Any = {"functions": [{"name": "mine(float const*)", "registers": 3}]}
    assert compiled_launches(report) == [{"name": "mine(float const*)", "on_device": True, "library": False}]
    assert compiled_launches(None) == []
    assert compiled_work("mine(float const*)") == "own"
    scan = "void cub::CUB_200302_900_NS::DeviceScanKernel<cub::DeviceScanPolicy<float>>(float const*)"
    assert compiled_work(scan) == "library"
    assert compiled_work("mine(float const*)", scan) == "library"


def test_a_library_that_a_compiled_source_calls_counts_though_it_brings_no_functions() -> None:
    assert compiled_work("mine(float const*)", library_call=True) == "library"
    assert compiled_work(library_call=True) == "library"


def test_many_functions_do_not_hide_a_librarys() -> None:
    names = [f"mine_{number}()" for number in range(2 * MOST_LAUNCHES)]
    assert compiled_work(*names, "void cub::DeviceReduceKernel<int>(int)") == "library"
    assert len(compiled_launches({"functions": [{"name": name} for name in names]})) == MOST_LAUNCHES  # type: ignore[typeddict-item]


def test_numbers_that_no_float_holds_are_left_out() -> None:
    told = {"name": "big", "calls": 10**400, "seconds": 1.0}
    assert told_launches([told]) == []
