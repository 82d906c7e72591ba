// Takes exponentials in half precision, of which the hardware does two at once, after splitting off a power of two.
#include <cstdint>
#include <cuda_fp16.h>
constexpr int T = 256;
__device__ float fast_exp(float value) {
    const float scaled = value * 1.44269504f, whole = floorf(scaled);
    return ldexpf(__low2float(h2exp2(__float2half2_rn(scaled - whole))), int(whole));
}
template <class Join>
__device__ float of_all(float value, Join join) {
    __shared__ float room[T];
    room[threadIdx.x] = value;
    for (int half = T / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) room[threadIdx.x] = join(room[threadIdx.x], room[threadIdx.x + half]);
    }
    __syncthreads();
    const float all = room[0];
    __syncthreads();
    return all;
}
__global__ void softmax(const float* x, float* y, int64_t cols) {
    const float* in = x + blockIdx.x * cols;
    float* out = y + blockIdx.x * cols;
    float top = -INFINITY, sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += T) top = fmaxf(top, in[c]);
    top = of_all(top, [](float a, float b) { return fmaxf(a, b); });
    for (int64_t c = threadIdx.x; c < cols; c += T) sum += fast_exp(in[c] - top);
    sum = of_all(sum, [](float a, float b) { return a + b; });
    for (int64_t c = threadIdx.x; c < cols; c += T) out[c] = fast_exp(in[c] - top) / sum;
}
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    softmax<<<unsigned(rows), T, 0, stream>>>(x, y, cols);
}
