#include <cuda_runtime.h>

#include <cstdint>

// One thread per row: correct and slow.
__global__ void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
    int64_t row = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    const float* in = x + row * cols;
    float* out = y + row * cols;
    float peak = in[0];
    for (int64_t col = 1; col < cols; ++col) peak = fmaxf(peak, in[col]);
    float total = 0;
    for (int64_t col = 0; col < cols; ++col) total += expf(in[col] - peak);
    for (int64_t col = 0; col < cols; ++col) out[col] = expf(in[col] - peak) / total;
}

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    const int threads = 128;
    const unsigned blocks = unsigned((rows + threads - 1) / threads);
    softmax<<<blocks, threads, 0, stream>>>(x, y, rows, cols);
}
