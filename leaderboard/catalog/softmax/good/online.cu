// A warp per short row, a block per long row; the online softmax finds maximum and sum in one pass.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

struct State {
    float peak, total;
};

__device__ State merge(State a, State b) {
    const float peak = fmaxf(a.peak, b.peak);
    // An empty state has peak -inf and total 0; -inf - -inf would be NaN.
    if (peak == -INFINITY) return {peak, 0.0f};
    return {peak, a.total * __expf(a.peak - peak) + b.total * __expf(b.peak - peak)};
}

__device__ State add(State s, float v) {
    if (v > s.peak) return {v, s.total * __expf(s.peak - v) + 1.0f};
    return {s.peak, s.total + __expf(v - s.peak)};
}

__device__ State across_warp(State s) {
    for (int step = 16; step > 0; step /= 2) {
        const State other = {__shfl_xor_sync(~0u, s.peak, step), __shfl_xor_sync(~0u, s.total, step)};
        s = merge(s, other);
    }
    return s;
}

__global__ void warp_rows(const float* __restrict__ x, float* __restrict__ y, int64_t rows, int cols) {
    const int lane = threadIdx.x % 32;
    const int64_t row = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    if (row >= rows) return;  // a whole warp leaves together: its lanes share the row
    const float* in = x + row * cols;
    float* out = y + row * cols;
    State s = {-INFINITY, 0.0f};
    for (int col = lane; col < cols; col += 32) s = add(s, in[col]);
    s = across_warp(s);
    const float factor = 1.0f / s.total;
    for (int col = lane; col < cols; col += 32) out[col] = __expf(in[col] - s.peak) * factor;
}

__global__ void block_rows(const float* __restrict__ x, float* __restrict__ y, int64_t rows, int64_t cols) {
    __shared__ State shared[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* in = x + row * cols;
        float* out = y + row * cols;
        State s = {-INFINITY, 0.0f};
        for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) s = add(s, in[col]);
        s = across_warp(s);
        if (lane == 0) shared[warp] = s;
        __syncthreads();
        s = lane < warps ? shared[lane] : State{-INFINITY, 0.0f};
        s = across_warp(s);
        const float factor = 1.0f / s.total;
        for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
            out[col] = __expf(in[col] - s.peak) * factor;
        }
        __syncthreads();  // before the next row overwrites shared
    }
}

}  // namespace

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (cols <= 256) {
        const int64_t blocks = (rows + 7) / 8;
        warp_rows<<<unsigned(blocks), 256, 0, stream>>>(x, y, rows, int(cols));
    } else {
        const unsigned blocks = unsigned(rows < 65535 ? rows : 65535);
        const int threads = cols <= 2048 ? 256 : 1024;
        block_rows<<<blocks, threads, 0, stream>>>(x, y, rows, cols);
    }
}
