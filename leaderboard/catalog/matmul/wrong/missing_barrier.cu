// Wrong: tiles are overwritten while slower warps still read them: the second barrier is missing.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void product(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols,
                        int64_t across) {
    __shared__ float as[32][32], bs[32][32];
    const int64_t row = blockIdx.x / across * 32 + threadIdx.y, col = blockIdx.x % across * 32 + threadIdx.x;
    float total = 0;
    for (int64_t first = 0; first < inner; first += 32) {
        const int64_t ka = first + threadIdx.x, kb = first + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < rows && ka < inner ? a[row * inner + ka] : 0;
        bs[threadIdx.y][threadIdx.x] = kb < inner && col < cols ? b[kb * cols + col] : 0;
        __syncthreads();
        for (int k = 0; k < 32; ++k) total += as[threadIdx.y][k] * bs[k][threadIdx.x];
    }
    if (row < rows && col < cols) c[row * cols + col] = total;
}

extern "C" void kernel(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols,
                       cudaStream_t stream) {
    const int64_t across = (cols + 31) / 32, down = (rows + 31) / 32;
    product<<<unsigned(across * down), dim3(32, 32), 0, stream>>>(a, b, c, rows, inner, cols, across);
}
