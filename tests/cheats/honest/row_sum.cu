// One block a row, whose threads add up in an order that is always the same.
#include <cstdint>
constexpr int T = 256;
__global__ void add(const float* x, float* s, int64_t cols) {
    __shared__ float room[T];
    float sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += T) sum += x[blockIdx.x * cols + c];
    room[threadIdx.x] = sum;
    for (int half = T / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
    }
    if (threadIdx.x == 0) s[blockIdx.x] = room[0];
}
extern "C" void kernel(const float* x, float* s, int64_t rows, int64_t cols, cudaStream_t stream) {
    add<<<unsigned(rows), T, 0, stream>>>(x, s, cols);
}
