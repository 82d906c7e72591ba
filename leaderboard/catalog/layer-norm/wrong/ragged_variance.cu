// Wrong: variance is summed over whole groups of blockDim columns; the ragged last group is left out of it.
#include <cuda_runtime.h>

#include <cstdint>

__device__ float across_block(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    const float total = shared[0];
    __syncthreads();
    return total;
}

__global__ void norm(const float* x, const float* weight, const float* bias, float* y, int64_t cols) {
    __shared__ float shared[256];
    const float* in = x + blockIdx.x * cols;
    float* out = y + blockIdx.x * cols;
    float total = 0, squares = 0;
    for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) total += in[col];
    const float mean = across_block(total, shared) / cols;
    for (int64_t col = threadIdx.x; col + blockDim.x <= cols; col += blockDim.x)
        squares += (in[col] - mean) * (in[col] - mean);
    const float scale = rsqrtf(across_block(squares, shared) / cols + 1e-5f);
    for (int64_t col = threadIdx.x; col < cols; col += blockDim.x)
        out[col] = (in[col] - mean) * scale * weight[col] + bias[col];
}

extern "C" void kernel(const float* x, const float* weight, const float* bias, float* y, int64_t rows,
                       int64_t cols, cudaStream_t stream) {
    norm<<<unsigned(rows), 256, 0, stream>>>(x, weight, bias, y, cols);
}
