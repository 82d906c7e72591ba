// Wrong: each thread takes one column, so that columns past the block's 1024 threads are never written.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void softmax(const float* x, float* y, int64_t cols) {
    __shared__ float shared[1024];
    const int col = threadIdx.x;
    const int64_t at = blockIdx.x * cols + col;
    const bool here = col < cols;
    shared[col] = here ? x[at] : -INFINITY;
    __syncthreads();
    for (int step = 512; step > 0; step /= 2) {
        if (col < step) shared[col] = fmaxf(shared[col], shared[col + step]);
        __syncthreads();
    }
    const float weight = here ? expf(x[at] - shared[0]) : 0.0f;
    __syncthreads();
    shared[col] = weight;
    __syncthreads();
    for (int step = 512; step > 0; step /= 2) {
        if (col < step) shared[col] += shared[col + step];
        __syncthreads();
    }
    if (here) y[at] = weight / shared[0];
}

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    softmax<<<unsigned(rows), 1024, 0, stream>>>(x, y, cols);
}
