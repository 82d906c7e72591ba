// Wrong: threads increment shared counters without atomics and lose each other's counts.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void histogram(const int32_t* values, int32_t* counts, int64_t count) {
    __shared__ int32_t shared[1024];
    for (int bin = threadIdx.x; bin < 1024; bin += blockDim.x) shared[bin] = 0;
    __syncthreads();
    const int64_t stride = gridDim.x * int64_t(blockDim.x);
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count; i += stride)
        ++shared[values[i]];
    __syncthreads();
    for (int bin = threadIdx.x; bin < 1024; bin += blockDim.x) atomicAdd(&counts[bin], shared[bin]);
}

extern "C" void kernel(const int32_t* values, int32_t* counts, int64_t count, cudaStream_t stream) {
    cudaMemsetAsync(counts, 0, 1024 * sizeof(int32_t), stream);
    histogram<<<256, 256, 0, stream>>>(values, counts, count);
}
