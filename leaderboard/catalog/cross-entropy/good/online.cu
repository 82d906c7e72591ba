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

__global__ void warp_rows(const float* __restrict__ logits, const int64_t* __restrict__ labels,
                          float* __restrict__ loss, float* __restrict__ dlogits, int64_t rows, int classes) {
    const int lane = threadIdx.x % 32;
    const int64_t row = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    if (row >= rows) return;  // a whole warp leaves together: its lanes share the row
    const float* in = logits + row * classes;
    float* out = dlogits + row * classes;
    const int label = int(labels[row]);
    State s = {-INFINITY, 0.0f};
    for (int k = lane; k < classes; k += 32) s = add(s, in[k]);
    s = across_warp(s);
    if (lane == 0) loss[row] = logf(s.total) - (in[label] - s.peak);
    const float factor = 1.0f / s.total;
    for (int k = lane; k < classes; k += 32)
        out[k] = __expf(in[k] - s.peak) * factor - (k == label ? 1.0f : 0.0f);
}

__global__ void block_rows(const float* __restrict__ logits, const int64_t* __restrict__ labels,
                           float* __restrict__ loss, float* __restrict__ dlogits, int64_t rows,
                           int64_t classes) {
    __shared__ State shared[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* in = logits + row * classes;
        float* out = dlogits + row * classes;
        const int64_t label = labels[row];
        State s = {-INFINITY, 0.0f};
        for (int64_t k = threadIdx.x; k < classes; k += blockDim.x) s = add(s, in[k]);
        s = across_warp(s);
        if (lane == 0) shared[warp] = s;
        __syncthreads();
        s = across_warp(lane < warps ? shared[lane] : State{-INFINITY, 0.0f});
        if (threadIdx.x == 0) loss[row] = logf(s.total) - (in[label] - s.peak);
        const float factor = 1.0f / s.total;
        for (int64_t k = threadIdx.x; k < classes; k += blockDim.x)
            out[k] = __expf(in[k] - s.peak) * factor - (k == label ? 1.0f : 0.0f);
        __syncthreads();  // before the next row overwrites shared
    }
}

}  // namespace

extern "C" void kernel(const float* logits, const int64_t* labels, float* loss, float* dlogits, int64_t rows,
                       int64_t classes, cudaStream_t stream) {
    if (classes <= 256) {
        const unsigned blocks = unsigned((rows + 7) / 8);
        warp_rows<<<blocks, 256, 0, stream>>>(logits, labels, loss, dlogits, rows, int(classes));
    } else {
        const unsigned blocks = unsigned(rows < 65535 ? rows : 65535);
        const int threads = classes <= 2048 ? 256 : 1024;
        block_rows<<<blocks, threads, 0, stream>>>(logits, labels, loss, dlogits, rows, classes);
    }
}
