// Tiles of 128 by 128 in shared memory, 8 by 8 of them in the registers of each thread.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int TILE = 128, DEEP = 16, EACH = 8, THREADS = 256;

__global__ __launch_bounds__(THREADS) void product(const float* __restrict__ a, const float* __restrict__ b,
                                                   float* __restrict__ c, int64_t rows, int64_t inner,
                                                   int64_t cols, int64_t tiles_across) {
    __shared__ float as[DEEP][TILE + 4];  // transposed, so that a thread reads neighbours
    __shared__ float bs[DEEP][TILE];
    const int64_t top = blockIdx.x / tiles_across * TILE, left = blockIdx.x % tiles_across * TILE;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sums[EACH][EACH] = {};
    for (int64_t first = 0; first < inner; first += DEEP) {
        for (int i = threadIdx.x; i < TILE * DEEP; i += THREADS) {
            const int64_t row = top + i / DEEP, k = first + i % DEEP;
            as[i % DEEP][i / DEEP] = row < rows && k < inner ? a[row * inner + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < TILE * DEEP; i += THREADS) {
            const int64_t k = first + i / TILE, col = left + i % TILE;
            bs[i / TILE][i % TILE] = k < inner && col < cols ? b[k * cols + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEEP; ++k) {
            // Two runs of 4 per thread, 64 apart: neighbouring threads touch different banks.
            float av[EACH], bv[EACH];
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                av[i] = as[k][i / 4 * 64 + ty * 4 + i % 4];
                bv[i] = bs[k][i / 4 * 64 + tx * 4 + i % 4];
            }
#pragma unroll
            for (int i = 0; i < EACH; ++i)
#pragma unroll
                for (int j = 0; j < EACH; ++j) sums[i][j] += av[i] * bv[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int64_t row = top + i / 4 * 64 + ty * 4 + i % 4, col = left + j / 4 * 64 + tx * 4 + j % 4;
            if (row < rows && col < cols) c[row * cols + col] = sums[i][j];
        }
}

}  // namespace

extern "C" void kernel(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols,
                       cudaStream_t stream) {
    const int64_t across = (cols + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
    product<<<unsigned(across * down), THREADS, 0, stream>>>(a, b, c, rows, inner, cols, across);
}
