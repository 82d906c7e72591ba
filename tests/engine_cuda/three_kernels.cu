// Three kernels: one in an unnamed namespace with inlined code, one with launch bounds that spills, a template.
#include <cstdint>
#include <cuda_runtime.h>

namespace {

__device__ __forceinline__ float twice(float value) {
    return value * 2.0f;
}

__global__ void plain(const float* x, float* y, int64_t count) {
    const int64_t index = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (index < count) y[index] = twice(x[index]);
}

}  // namespace

__global__ void __launch_bounds__(256, 8) spilling(const float* x, float* y) {
    __shared__ float tile[256];
    float kept[48];
#pragma unroll
    for (int k = 0; k < 48; ++k) kept[k] = x[threadIdx.x * 48 + k];
    tile[threadIdx.x] = kept[0];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 48; ++k) {
        y[threadIdx.x * 48 + k] = kept[k] / tile[255 - threadIdx.x] + __shfl_xor_sync(~0u, kept[47 - k], 1);
    }
}

template <typename T>
__global__ void shifted(T* y) {
    y[threadIdx.x] += T(1);
}

extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    plain<<<unsigned((count + 255) / 256), 256, 0, stream>>>(x, y, count);
    spilling<<<1, 256, 0, stream>>>(x, y);
    shifted<double><<<1, 32, 0, stream>>>(reinterpret_cast<double*>(y));
}
