// Wrong: adds atomically into an output that nobody set to zero.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void sum(const float* x, float* total, int64_t count) {
    float part = 0;
    const int64_t stride = gridDim.x * int64_t(blockDim.x);
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count; i += stride) part += x[i];
    atomicAdd(total, part);
}

extern "C" void kernel(const float* x, float* total, int64_t count, cudaStream_t stream) {
    sum<<<256, 256, 0, stream>>>(x, total, count);
}
