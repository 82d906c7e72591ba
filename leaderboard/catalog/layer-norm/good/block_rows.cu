// A warp per short row, a block per long one; Welford's method takes mean and variance in one read.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

struct Moments {
    float count, mean, squares;  // squares: sum of squared distances to the mean
};

__device__ Moments merge(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0) return a;
    const float delta = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
}

__device__ Moments add(Moments m, float v) {
    const float count = m.count + 1, delta = v - m.mean, mean = m.mean + delta / count;
    return {count, mean, m.squares + delta * (v - mean)};
}

__device__ Moments across_warp(Moments m) {
    for (int step = 16; step > 0; step /= 2) {
        const Moments other = {__shfl_xor_sync(~0u, m.count, step), __shfl_xor_sync(~0u, m.mean, step),
                               __shfl_xor_sync(~0u, m.squares, step)};
        m = merge(m, other);
    }
    return m;
}

__global__ void warp_rows(const float* __restrict__ x, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ y, int64_t rows, int cols) {
    const int lane = threadIdx.x % 32;
    const int64_t row = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    if (row >= rows) return;  // a whole warp leaves together: its lanes share the row
    const float* in = x + row * cols;
    float* out = y + row * cols;
    Moments m = {0, 0, 0};
    for (int col = lane; col < cols; col += 32) m = add(m, in[col]);
    m = across_warp(m);
    // Lanes may have merged in different orders; one of them speaks for all.
    const float mean = __shfl_sync(~0u, m.mean, 0);
    const float scale = rsqrtf(__shfl_sync(~0u, m.squares, 0) / cols + 1e-5f);
    for (int col = lane; col < cols; col += 32) out[col] = (in[col] - mean) * scale * weight[col] + bias[col];
}

__global__ void block_rows(const float* __restrict__ x, const float* __restrict__ weight,
                           const float* __restrict__ bias, float* __restrict__ y, int64_t rows,
                           int64_t cols) {
    __shared__ Moments shared[32];
    __shared__ float mean, scale;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* in = x + row * cols;
        float* out = y + row * cols;
        Moments m = {0, 0, 0};
        for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) m = add(m, in[col]);
        m = across_warp(m);
        if (lane == 0) shared[warp] = m;
        __syncthreads();
        if (warp == 0) {
            m = across_warp(lane < warps ? shared[lane] : Moments{0, 0, 0});
            if (lane == 0) {
                mean = m.mean;
                scale = rsqrtf(m.squares / cols + 1e-5f);
            }
        }
        __syncthreads();
        for (int64_t col = threadIdx.x; col < cols; col += blockDim.x)
            out[col] = (in[col] - mean) * scale * weight[col] + bias[col];
        __syncthreads();  // before the next row overwrites shared
    }
}

}  // namespace

extern "C" void kernel(const float* x, const float* weight, const float* bias, float* y, int64_t rows,
                       int64_t cols, cudaStream_t stream) {
    if (cols <= 256) {
        const int64_t blocks = (rows + 7) / 8;
        warp_rows<<<unsigned(blocks), 256, 0, stream>>>(x, weight, bias, y, rows, int(cols));
    } else {
        const unsigned blocks = unsigned(rows < 65535 ? rows : 65535);
        const int threads = cols <= 2048 ? 256 : 1024;
        block_rows<<<blocks, threads, 0, stream>>>(x, weight, bias, y, rows, cols);
    }
}
