// Tiles of 32 by 32 through shared memory with one column of padding; 8 rows of threads move 4 elements each.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int TILE = 32, ROWS = 8;

__global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int64_t rows, int64_t cols,
                          int64_t tiles_across) {
    __shared__ float tile[TILE][TILE + 1];
    const int64_t top = blockIdx.x / tiles_across * TILE, left = blockIdx.x % tiles_across * TILE;
    for (int step = 0; step < TILE; step += ROWS) {
        const int64_t row = top + threadIdx.y + step, col = left + threadIdx.x;
        if (row < rows && col < cols) tile[threadIdx.y + step][threadIdx.x] = x[row * cols + col];
    }
    __syncthreads();
    for (int step = 0; step < TILE; step += ROWS) {
        const int64_t col = left + threadIdx.y + step, row = top + threadIdx.x;
        if (row < rows && col < cols) y[col * rows + row] = tile[threadIdx.x][threadIdx.y + step];
    }
}

}  // namespace

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    // One grid axis: the other two end at 65535 blocks.
    const int64_t across = (cols + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
    transpose<<<unsigned(across * down), dim3(TILE, ROWS), 0, stream>>>(x, y, rows, cols, across);
}
