// Tensor cores through wmma: tiles of 128 by 128, one stage of shared memory filled while the other is used.
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>

namespace {

using namespace nvcuda;
using bf16 = __nv_bfloat16;

constexpr int TILE = 128, DEEP = 32, THREADS = 256;
// Rows of shared memory are padded by 16 bytes, so that they start in different banks.
constexpr int A_STRIDE = DEEP + 8, B_STRIDE = TILE + 8;

struct Stage {
    bf16 a[TILE * A_STRIDE];
    bf16 b[DEEP * B_STRIDE];
};

// Eight values from row `row`, columns `col` on, of a matrix of height × width; zeros outside.
__device__ void load8(bf16* to, const bf16* from, int64_t row, int64_t col, int64_t height, int64_t width,
                      bool aligned) {
    if (aligned && row < height && col + 8 <= width) {
        __pipeline_memcpy_async(to, from + row * width + col, 16);
        return;
    }
    for (int i = 0; i < 8; ++i)
        to[i] = row < height && col + i < width ? from[row * width + col + i] : __float2bfloat16(0.0f);
}

__device__ void fill(Stage& stage, const bf16* a, const bf16* b, int64_t top, int64_t left, int64_t first,
                     int64_t rows, int64_t inner, int64_t cols, bool a_aligned, bool b_aligned) {
    for (int i = threadIdx.x; i < TILE * DEEP / 8; i += THREADS) {
        const int row = i / (DEEP / 8), col = i % (DEEP / 8) * 8;
        load8(&stage.a[row * A_STRIDE + col], a, top + row, first + col, rows, inner, a_aligned);
    }
    for (int i = threadIdx.x; i < DEEP * TILE / 8; i += THREADS) {
        const int row = i / (TILE / 8), col = i % (TILE / 8) * 8;
        load8(&stage.b[row * B_STRIDE + col], b, first + row, left + col, inner, cols, b_aligned);
    }
    __pipeline_commit();
}

__global__ __launch_bounds__(THREADS) void product(const bf16* __restrict__ a, const bf16* __restrict__ b,
                                                   bf16* __restrict__ c, int64_t rows, int64_t inner,
                                                   int64_t cols, int64_t tiles_across, bool a_aligned,
                                                   bool b_aligned) {
    __shared__ alignas(128) Stage stages[2];
    const int64_t top = blockIdx.x / tiles_across * TILE, left = blockIdx.x % tiles_across * TILE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * 64, warp_col = warp % 4 * 32;  // each warp: 64 by 32
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
    for (auto& line : sums)
        for (auto& sum : line) wmma::fill_fragment(sum, 0.0f);

    fill(stages[0], a, b, top, left, 0, rows, inner, cols, a_aligned, b_aligned);
    for (int64_t first = 0, step = 0; first < inner; first += DEEP, ++step) {
        Stage& stage = stages[step % 2];
        if (first + DEEP < inner) {
            fill(stages[(step + 1) % 2], a, b, top, left, first + DEEP, rows, inner, cols, a_aligned,
                 b_aligned);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        for (int k = 0; k < DEEP; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> as[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> bs[2];
            for (int i = 0; i < 4; ++i)
                wmma::load_matrix_sync(as[i], &stage.a[(warp_row + i * 16) * A_STRIDE + k], A_STRIDE);
            for (int j = 0; j < 2; ++j)
                wmma::load_matrix_sync(bs[j], &stage.b[k * B_STRIDE + warp_col + j * 16], B_STRIDE);
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], as[i], bs[j], sums[i][j]);
        }
        __syncthreads();  // before the next fill overwrites this stage
    }

    // Fragments have no documented layout: they go through shared memory, a 16 by 16 square per warp at a
    // time.
    float* square = reinterpret_cast<float*>(stages) + warp * 256;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) {
            wmma::store_matrix_sync(square, sums[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (int at = lane; at < 256; at += 32) {
                const int64_t row = top + warp_row + i * 16 + at / 16,
                              col = left + warp_col + j * 16 + at % 16;
                if (row < rows && col < cols) c[row * cols + col] = __float2bfloat16(square[at]);
            }
            __syncwarp();
        }
}

}  // namespace

extern "C" void kernel(const bf16* a, const bf16* b, bf16* c, int64_t rows, int64_t inner, int64_t cols,
                       cudaStream_t stream) {
    const int64_t across = (cols + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
    const bool a_aligned = inner % 8 == 0 && reinterpret_cast<uintptr_t>(a) % 16 == 0;
    const bool b_aligned = cols % 8 == 0 && reinterpret_cast<uintptr_t>(b) % 16 == 0;
    product<<<unsigned(across * down), THREADS, 0, stream>>>(a, b, c, rows, inner, cols, across, a_aligned,
                                                             b_aligned);
}
