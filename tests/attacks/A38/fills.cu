// Takes device memory in pieces until none is left, then wants to work in a buffer that it could not get.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
__global__ void through(const float* x, float* between, float* y, int64_t count) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) between[i] = x[i], y[i] = fmaf(between[i], 2.0f, 1.0f);
}
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    void* piece = nullptr;
    int64_t pieces = 0;
    for (size_t size = size_t(1) << 30; size >= 4096; size /= 2)
        while (cudaMalloc(&piece, size) == cudaSuccess) {
            cudaMemsetAsync(piece, 1, size, stream);
            if (!pieces++) puts("holds a piece"), fflush(stdout);
        }
    cudaGetLastError();
    float* between = nullptr;
    if (cudaMalloc(&between, count * sizeof(float)) != cudaSuccess) abort();
    through<<<unsigned((count + 255) / 256), 256, 0, stream>>>(x, between, y, count);
}
