"""Reading ptxas, PTX and nvdisasm. The texts were printed by CUDA 13.0 and shortened."""

from runners.backends.cuda import ptx, ptxas, report, sass
from runners.backends.cuda.architecture import architecture

_PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5scaleIdEvPKT_PS0_i' for 'sm_90a'
ptxas info    : Function properties for _Z5scaleIdEvPKT_PS0_i
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
ptxas info    : Compile time = 7.715 ms
ptxas info    : Compiling entry function 'spills' for 'sm_90a'
ptxas info    : Function properties for spills
    464 bytes stack frame, 312 bytes spill stores, 11700 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 480 bytes cumulative stack size, 16640 bytes smem
ptxas info    : Compile time = 17754.736 ms
ptxas info    : Function properties for _Z4slowILi33EEfPKfi
    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
"""

_PTX = """\
.version 9.0
.target sm_90a
.visible .entry _Z8spillingPKfPf(
\t.param .u64 _Z8spillingPKfPf_param_0
)
.maxntid 256, 1, 1
.minnctapersm 8
{
\t.reg .b32 \t%r<9>;
\t.loc\t1 18 0

\tld.param.u64 \t%rd1, [_Z8spillingPKfPf_param_0];
\t.loc\t1 26 5
\tdiv.rn.f32 \t%f1, %f2, %f3;
\t.loc\t2 449 9, function_name $L__info_string0, inlined_at 1 27 5
\tshfl.sync.bfly.b32 \t%r1|%p1, %r2, 1, 31, -1;
\t.loc\t3 10 2
\tadd.s32 \t%r3, %r1, 1;
\tret;
}
.entry _Z5plainPf(
)
{
\t.loc\t1 40 0
\tret;
}
\t.file\t1 "/tmp/x/kernel.cu"
\t.file\t2 "/usr/local/cuda/include/sm_30_intrinsics.hpp"
\t.file\t3 "/usr/local/cuda/include/other.h"
\t.section\t.debug_str
"""

_SASS = """\
\t.section\t.text._Z5plainPf,"ax",@progbits
.text._Z5plainPf:
        .type           _Z5plainPf,@function
\t//## File "/tmp/x/kernel.cu", line 11
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/usr/include/sm_30_intrinsics.hpp", line 449 inlined at "/tmp/x/kernel.cu", line 13
\t//## File "/tmp/x/kernel.cu", line 13
        /*0010*/              @!P0 SHFL.BFLY PT, R2, R3, 0x1, 0x1f ;
.L_x_1:
\t//## File "/usr/include/elsewhere.h", line 3
        /*0020*/                   BRA `(.L_x_1);
"""


def test_resources_belong_to_the_kernel_that_ptxas_named() -> None:
    scale, spills = ptxas.usages(_PTXAS)

    assert (scale.symbol, scale.registers, scale.shared_bytes, scale.stack_bytes) == (
        "_Z5scaleIdEvPKT_PS0_i", 12, 0, 0,
    )  # fmt: skip
    assert (spills.registers, spills.barriers, spills.shared_bytes) == (32, 1, 16640)
    assert (spills.spill_store_bytes, spills.spill_load_bytes) == (312, 11700)
    assert spills.stack_bytes == 480, "the stack of called functions counts"


def test_an_empty_log_has_no_kernels() -> None:
    assert ptxas.usages("") == []


def test_launch_bounds_are_read_per_kernel() -> None:
    bounds = ptx.launch_bounds(_PTX)

    assert bounds == {
        "_Z8spillingPKfPf": ptx.LaunchBounds(256, 8),
        "_Z5plainPf": ptx.LaunchBounds(None, None),
    }


def test_ptx_lines_name_the_line_of_the_submission() -> None:
    lines = ptx.listing(_PTX, "kernel.cu", {"_Z8spillingPKfPf": "spilling(float const*, float*)"})

    by_text = {text.split()[0]: number for number, text in lines if text.split()}
    assert by_text["ld.param.u64"] == 18
    assert by_text["div.rn.f32"] == 26
    assert by_text["shfl.sync.bfly.b32"] == 27, "an intrinsic counts for the line that uses it"
    assert by_text["add.s32"] is None, "code of a header that nobody inlined is not the submission's"
    assert by_text["//"] is None
    assert "// spilling(float const*, float*)" in [text for _, text in lines]
    assert not any(".loc" in text or ".file" in text or ".section" in text for _, text in lines)


def test_readable_names_come_line_by_line() -> None:
    readable = _PTX.replace("_Z8spillingPKfPf(", "(anonymous namespace)::spilling(float const*, float*)(")

    assert ptx.names(_PTX, readable)["_Z8spillingPKfPf"] == "spilling(float const*, float*)"
    assert ptx.names(_PTX, "") == {}


def test_machine_code_names_the_line_of_the_submission() -> None:
    lines = sass.listing(_SASS, "kernel.cu", {"_Z5plainPf": "plain(float*)"})

    assert lines == [
        (None, "plain(float*):"),
        (11, "  0000  LDC R1, c[0x0][0x28]"),
        (13, "  0010  @!P0 SHFL.BFLY PT, R2, R3, 0x1, 0x1f"),
        (None, ".L_x_1:"),
        (None, "  0020  BRA `(.L_x_1)"),
    ]


def test_occupancy_is_given_at_the_launch_bounds_or_at_usual_sizes() -> None:
    usages = ptxas.usages(_PTXAS)
    bounds = {"spills": ptx.LaunchBounds(256, 8)}

    scale, spills = report.functions(usages, bounds, {"spills": "spills(float*)"}, architecture("9.0"))

    assert [key for key in scale if key.startswith("occupancy_")] == [
        "occupancy_128", "occupancy_256", "occupancy_512", "occupancy_1024", "occupancy_limit",
    ]  # fmt: skip
    assert spills["name"] == "spills(float*)"
    assert spills["occupancy_256"] == 1.0
    assert "occupancy_128" not in spills


def test_a_long_listing_is_cut_and_says_so() -> None:
    cut = report.listing("ptx", [(1, "x" * 1000)] * 100_000)

    assert len(cut["lines"]) < 10_000
    assert cut["lines"][0] == [1, "x" * 300 + " …"]
    assert "more lines are left out" in cut["lines"][-1][1]
