// Wrong: keeps the running sum in bfloat16.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int64_t rows,
                        int64_t inner, int64_t cols) {
    const int64_t at = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (at >= rows * cols) return;
    const int64_t row = at / cols, col = at % cols;
    __nv_bfloat16 total = __float2bfloat16(0.0f);
    for (int64_t k = 0; k < inner; ++k) total = __hfma(a[row * inner + k], b[k * cols + col], total);
    c[at] = total;
}

extern "C" void kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int64_t rows,
                       int64_t inner, int64_t cols, cudaStream_t stream) {
    product<<<unsigned((rows * cols + 255) / 256), 256, 0, stream>>>(a, b, c, rows, inner, cols);
}
