// Writes behind the end of its output.
#include <cstdint>
__global__ void affine(const float* x, float* y, int64_t count) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) y[i] = fmaf(x[i], 2.0f, 1.0f);
}
static unsigned blocks(int64_t count) { return unsigned((count + 255) / 256); }
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    affine<<<blocks(count + 7), 256, 0, stream>>>(x, y, count + 7);
}
