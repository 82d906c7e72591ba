// Computes in bfloat16.
#include <cuda_bf16.h>
#include <cstdint>
__global__ void affine(const float* x, float* y, int64_t count) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) y[i] = fmaf(x[i], 2.0f, 1.0f);
}
static unsigned blocks(int64_t count) { return unsigned((count + 255) / 256); }
__global__ void in_bfloat16(const float* x, float* y, int64_t count) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) y[i] = __bfloat162float(__hfma(__float2bfloat16(x[i]), __float2bfloat16(2.0f), __float2bfloat16(1.0f)));
}
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    in_bfloat16<<<blocks(count), 256, 0, stream>>>(x, y, count);
}
