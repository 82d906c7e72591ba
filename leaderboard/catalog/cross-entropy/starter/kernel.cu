#include <cuda_runtime.h>

#include <cstdint>

// One thread per row: correct and slow.
__global__ void cross_entropy(const float* logits, const int64_t* labels, float* loss, float* dlogits,
                              int64_t rows, int64_t classes) {
    const int64_t row = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    const float* in = logits + row * classes;
    float* out = dlogits + row * classes;
    const int64_t label = labels[row];
    float peak = in[0];
    for (int64_t k = 1; k < classes; ++k) peak = fmaxf(peak, in[k]);
    float total = 0;
    for (int64_t k = 0; k < classes; ++k) total += expf(in[k] - peak);
    loss[row] = logf(total) - (in[label] - peak);
    for (int64_t k = 0; k < classes; ++k) out[k] = expf(in[k] - peak) / total - (k == label ? 1.0f : 0.0f);
}

extern "C" void kernel(const float* logits, const int64_t* labels, float* loss, float* dlogits, int64_t rows,
                       int64_t classes, cudaStream_t stream) {
    const int threads = 128;
    const unsigned blocks = unsigned((rows + threads - 1) / threads);
    cross_entropy<<<blocks, threads, 0, stream>>>(logits, labels, loss, dlogits, rows, classes);
}
