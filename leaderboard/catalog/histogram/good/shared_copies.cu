// Four histograms per block in shared memory, equal neighbours counted in a register, one global add per bin.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int BINS = 1024, COPIES = 4, THREADS = 512;

// Adds runs of equal values at once, so that a constant vector costs one addition per thread and not one per
// value.
struct Run {
    int32_t* counts;
    int32_t value, length;

    __device__ void next(int32_t v) {
        if (v == value) {
            ++length;
            return;
        }
        flush();
        value = v;
        length = 1;
    }
    __device__ void flush() {
        if (length) atomicAdd(&counts[value], length);
    }
};

__global__ void histogram(const int32_t* __restrict__ values, int32_t* counts, int64_t count) {
    __shared__ int32_t shared[COPIES][BINS + 1];
    for (int i = threadIdx.x; i < COPIES * (BINS + 1); i += THREADS) (&shared[0][0])[i] = 0;
    __syncthreads();
    Run run = {shared[threadIdx.x % COPIES], 0, 0};
    const int64_t id = blockIdx.x * int64_t(THREADS) + threadIdx.x, stride = gridDim.x * int64_t(THREADS);
    const bool aligned = reinterpret_cast<uintptr_t>(values) % 16 == 0;
    const int64_t quads = aligned ? count / 4 : 0;
    for (int64_t i = id; i < quads; i += stride) {
        const int4 v = reinterpret_cast<const int4*>(values)[i];
        run.next(v.x), run.next(v.y), run.next(v.z), run.next(v.w);
    }
    for (int64_t i = quads * 4 + id; i < count; i += stride) run.next(values[i]);
    run.flush();
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        int32_t sum = 0;
        for (int copy = 0; copy < COPIES; ++copy) sum += shared[copy][bin];
        if (sum) atomicAdd(&counts[bin], sum);
    }
}

}  // namespace

extern "C" void kernel(const int32_t* values, int32_t* counts, int64_t count, cudaStream_t stream) {
    cudaMemsetAsync(counts, 0, BINS * sizeof(int32_t), stream);
    const int64_t wanted = (count + THREADS * 16 - 1) / (THREADS * 16);
    histogram<<<unsigned(wanted < 528 ? wanted : 528), THREADS, 0, stream>>>(values, counts, count);
}
