// Wrong: takes channels four at a time and forgets the last channels % 4.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void convolve(const float* x, const float* weight, const float* bias, float* y, int64_t batch,
                         int64_t channels, int64_t height, int64_t width, int64_t filters) {
    const int64_t at = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (at >= batch * filters * height * width) return;
    const int64_t j = at % width, i = at / width % height, f = at / width / height % filters;
    const int64_t n = at / width / height / filters;
    float sum = bias[f];
    for (int64_t c = 0; c < channels / 4 * 4; ++c)
        for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q) {
                const int64_t row = i + p - 1, col = j + q - 1;
                if (row < 0 || row >= height || col < 0 || col >= width) continue;
                sum += x[((n * channels + c) * height + row) * width + col] *
                       weight[((f * channels + c) * 3 + p) * 3 + q];
            }
    y[at] = fmaxf(sum, 0.0f);
}

extern "C" void kernel(const float* x, const float* weight, const float* bias, float* y, int64_t batch,
                       int64_t channels, int64_t height, int64_t width, int64_t filters,
                       cudaStream_t stream) {
    const int64_t count = batch * filters * height * width;
    convolve<<<unsigned((count + 255) / 256), 256, 0, stream>>>(x, weight, bias, y, batch, channels, height,
                                                                width, filters);
}
