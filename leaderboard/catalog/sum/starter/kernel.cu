#include <cuda_runtime.h>

#include <cstdint>

// One block adds up everything: correct and slow.
__global__ void sum(const float* x, float* total, int64_t count) {
    __shared__ double shared[1024];
    double part = 0;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) part += x[i];
    shared[threadIdx.x] = part;
    __syncthreads();
    for (int step = 512; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) total[0] = float(shared[0]);
}

extern "C" void kernel(const float* x, float* total, int64_t count, cudaStream_t stream) {
    sum<<<1, 1024, 0, stream>>>(x, total, count);
}
