// Blocks of 64 queries walk over blocks of 32 keys with the online softmax, all sums in float32 registers.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int QUERIES = 64, KEYS = 32, THREADS = 256;

// 16 by 16 threads; thread (ty, tx) holds 4 queries: their scores with keys tx and tx + 16, and DIM / 16
// outputs each.
template <int DIM>
__global__ __launch_bounds__(THREADS) void attention(const float* __restrict__ q, const float* __restrict__ k,
                                                     const float* __restrict__ v, float* __restrict__ y,
                                                     int64_t length, int64_t blocks_per_head) {
    constexpr int OUTS = DIM / 16;
    __shared__ float qs[QUERIES][DIM];
    __shared__ float ks[KEYS][DIM + 1];  // padded: threads read different keys at the same place
    __shared__ float vs[KEYS][DIM];
    __shared__ float weights[QUERIES][KEYS];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16 * 4;
    const int64_t start = blockIdx.x / blocks_per_head * length * DIM;
    // The last queries have most keys to see: they come first.
    const int64_t first = (blocks_per_head - 1 - blockIdx.x % blocks_per_head) * QUERIES;
    const float scale = rsqrtf(float(DIM));
    for (int at = threadIdx.x; at < QUERIES * DIM; at += THREADS) {
        const int64_t i = first + at / DIM;
        qs[at / DIM][at % DIM] = i < length ? q[start + i * DIM + at % DIM] * scale : 0.0f;
    }
    float peaks[4], totals[4], outs[4][OUTS];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        peaks[r] = -INFINITY;
        totals[r] = 0;
#pragma unroll
        for (int o = 0; o < OUTS; ++o) outs[r][o] = 0;
    }
    const int64_t end = first + QUERIES < length ? first + QUERIES : length;
    for (int64_t left = 0; left < end; left += KEYS) {
        __syncthreads();  // the block of keys before may still be in use
        for (int at = threadIdx.x; at < KEYS * DIM; at += THREADS) {
            const int64_t j = left + at / DIM;
            ks[at / DIM][at % DIM] = j < length ? k[start + j * DIM + at % DIM] : 0.0f;
            vs[at / DIM][at % DIM] = j < length ? v[start + j * DIM + at % DIM] : 0.0f;
        }
        __syncthreads();
        float scores[4][2] = {};
#pragma unroll 8
        for (int d = 0; d < DIM; ++d) {
            const float k0 = ks[tx][d], k1 = ks[tx + 16][d];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                scores[r][0] += qs[ty + r][d] * k0;
                scores[r][1] += qs[ty + r][d] * k1;
            }
        }
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int64_t i = first + ty + r;
            if (left + tx > i) scores[r][0] = -INFINITY;
            if (left + tx + 16 > i) scores[r][1] = -INFINITY;
            // The 16 threads of a query are half a warp. Key 0 is seen by every query, so the maximum is
            // never -inf.
            float peak = fmaxf(peaks[r], fmaxf(scores[r][0], scores[r][1]));
            for (int step = 8; step > 0; step /= 2) peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, step));
            const float w0 = __expf(scores[r][0] - peak), w1 = __expf(scores[r][1] - peak);
            float total = w0 + w1;
            for (int step = 8; step > 0; step /= 2) total += __shfl_xor_sync(~0u, total, step);
            const float shrink = __expf(peaks[r] - peak);
            totals[r] = totals[r] * shrink + total;
            peaks[r] = peak;
#pragma unroll
            for (int o = 0; o < OUTS; ++o) outs[r][o] *= shrink;
            weights[ty + r][tx] = w0;
            weights[ty + r][tx + 16] = w1;
        }
        __syncwarp();  // the weights of a query are written and read by the same warp
#pragma unroll 8
        for (int j = 0; j < KEYS; ++j)
#pragma unroll
            for (int o = 0; o < OUTS; ++o) {
                const float value = vs[j][tx + o * 16];
#pragma unroll
                for (int r = 0; r < 4; ++r) outs[r][o] += weights[ty + r][j] * value;
            }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        const int64_t i = first + ty + r;
        if (i >= length) continue;
#pragma unroll
        for (int o = 0; o < OUTS; ++o) y[start + i * DIM + tx + o * 16] = outs[r][o] / totals[r];
    }
}

}  // namespace

// dim is 32 or 64.
extern "C" void kernel(const float* q, const float* k, const float* v, float* y, int64_t heads,
                       int64_t length, int64_t dim, cudaStream_t stream) {
    const int64_t blocks = (length + QUERIES - 1) / QUERIES;
    const unsigned grid = unsigned(blocks * heads);
    if (dim == 64) attention<64><<<grid, THREADS, 0, stream>>>(q, k, v, y, length, blocks);
    if (dim == 32) attention<32><<<grid, THREADS, 0, stream>>>(q, k, v, y, length, blocks);
}
