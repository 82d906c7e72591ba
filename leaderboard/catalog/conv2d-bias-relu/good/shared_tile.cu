// Tiles of 32 by 16 pixels in shared memory, channel by channel; a thread keeps 4 pixels of 8 filters.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int WIDE = 32, TALL = 16, EACH = 4, FILTERS = 8, THREADS = WIDE * TALL / EACH;

__global__ __launch_bounds__(THREADS) void convolve(const float* __restrict__ x,
                                                    const float* __restrict__ weight,
                                                    const float* __restrict__ bias, float* __restrict__ y,
                                                    int64_t channels, int64_t height, int64_t width,
                                                    int64_t filters, int64_t across, int64_t down,
                                                    int64_t groups) {
    __shared__ float tile[TALL + 2][WIDE + 2];
    __shared__ float weights[9][FILTERS];
    // One grid axis: the other two end at 65535 blocks.
    int64_t block = blockIdx.x;
    const int64_t left = block % across * WIDE;
    block /= across;
    const int64_t top = block % down * TALL;
    block /= down;
    const int64_t first = block % groups * FILTERS, image = block / groups;
    const int tx = threadIdx.x % WIDE, ty = threadIdx.x / WIDE * EACH;

    float sums[EACH][FILTERS] = {};
    for (int64_t c = 0; c < channels; ++c) {
        const float* plane = x + (image * channels + c) * height * width;
        __syncthreads();  // the channel before may still be in use
        for (int at = threadIdx.x; at < (TALL + 2) * (WIDE + 2); at += THREADS) {
            const int64_t row = top + at / (WIDE + 2) - 1, col = left + at % (WIDE + 2) - 1;
            const bool inside = row >= 0 && row < height && col >= 0 && col < width;
            tile[at / (WIDE + 2)][at % (WIDE + 2)] = inside ? plane[row * width + col] : 0.0f;
        }
        for (int at = threadIdx.x; at < 9 * FILTERS; at += THREADS) {
            const int64_t f = first + at % FILTERS;
            weights[at / FILTERS][at % FILTERS] =
                f < filters ? weight[(f * channels + c) * 9 + at / FILTERS] : 0.0f;
        }
        __syncthreads();
        float near[EACH + 2][3];
#pragma unroll
        for (int i = 0; i < EACH + 2; ++i)
#pragma unroll
            for (int q = 0; q < 3; ++q) near[i][q] = tile[ty + i][tx + q];
#pragma unroll
        for (int p = 0; p < 3; ++p)
#pragma unroll
            for (int q = 0; q < 3; ++q)
#pragma unroll
                for (int f = 0; f < FILTERS; ++f) {
                    const float w = weights[p * 3 + q][f];
#pragma unroll
                    for (int i = 0; i < EACH; ++i) sums[i][f] += near[i + p][q] * w;
                }
    }
    const int64_t col = left + tx;
    if (col >= width) return;
#pragma unroll
    for (int f = 0; f < FILTERS; ++f) {
        if (first + f >= filters) break;
        const float b = bias[first + f];
        float* out = y + (image * filters + first + f) * height * width;
#pragma unroll
        for (int i = 0; i < EACH; ++i)
            if (top + ty + i < height) out[(top + ty + i) * width + col] = fmaxf(sums[i][f] + b, 0.0f);
    }
}

}  // namespace

extern "C" void kernel(const float* x, const float* weight, const float* bias, float* y, int64_t batch,
                       int64_t channels, int64_t height, int64_t width, int64_t filters,
                       cudaStream_t stream) {
    const int64_t across = (width + WIDE - 1) / WIDE, down = (height + TALL - 1) / TALL;
    const int64_t groups = (filters + FILTERS - 1) / FILTERS;
    convolve<<<unsigned(across * down * groups * batch), THREADS, 0, stream>>>(
        x, weight, bias, y, channels, height, width, filters, across, down, groups);
}
