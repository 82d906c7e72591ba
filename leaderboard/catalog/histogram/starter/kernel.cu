#include <cuda_runtime.h>

#include <cstdint>

// One thread per value, all counting in global memory: correct and slow.
__global__ void histogram(const int32_t* values, int32_t* counts, int64_t count) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) atomicAdd(&counts[values[i]], 1);
}

extern "C" void kernel(const int32_t* values, int32_t* counts, int64_t count, cudaStream_t stream) {
    cudaMemsetAsync(counts, 0, 1024 * sizeof(int32_t), stream);
    histogram<<<unsigned((count + 255) / 256), 256, 0, stream>>>(values, counts, count);
}
