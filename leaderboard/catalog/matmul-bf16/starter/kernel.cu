#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// One thread per element of c, without tensor cores: correct and slow.
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int64_t rows,
                        int64_t inner, int64_t cols) {
    const int64_t at = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (at >= rows * cols) return;
    const int64_t row = at / cols, col = at % cols;
    float total = 0;
    for (int64_t k = 0; k < inner; ++k)
        total += __bfloat162float(a[row * inner + k]) * __bfloat162float(b[k * cols + col]);
    c[at] = __float2bfloat16(total);
}

extern "C" void kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int64_t rows,
                       int64_t inner, int64_t cols, cudaStream_t stream) {
    const int threads = 256;
    product<<<unsigned((rows * cols + threads - 1) / threads), threads, 0, stream>>>(a, b, c, rows, inner,
                                                                                     cols);
}
