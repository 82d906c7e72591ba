// Wrong: blocks add to dw without atomics, so that some rows' gradients are lost.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void rms(const float* x, const float* weight, const float* dy, float* y, float* dx, float* dw,
                    int64_t cols) {
    __shared__ float squares[256], products[256];
    const int64_t start = blockIdx.x * cols;
    float s = 0, p = 0;
    for (int64_t col = threadIdx.x; col < cols; col += 256) {
        s += x[start + col] * x[start + col];
        p += dy[start + col] * weight[col] * x[start + col];
    }
    squares[threadIdx.x] = s;
    products[threadIdx.x] = p;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            squares[threadIdx.x] += squares[threadIdx.x + step];
            products[threadIdx.x] += products[threadIdx.x + step];
        }
        __syncthreads();
    }
    const float r = rsqrtf(squares[0] / cols + 1e-6f), c = products[0] * r / cols;
    for (int64_t col = threadIdx.x; col < cols; col += 256) {
        const float normed = x[start + col] * r;
        y[start + col] = normed * weight[col];
        dx[start + col] = r * (dy[start + col] * weight[col] - normed * c);
        dw[col] += dy[start + col] * normed;
    }
}

extern "C" void kernel(const float* x, const float* weight, const float* dy, float* y, float* dx, float* dw,
                       int64_t rows, int64_t cols, cudaStream_t stream) {
    cudaMemsetAsync(dw, 0, cols * sizeof(float), stream);
    rms<<<unsigned(rows), 256, 0, stream>>>(x, weight, dy, y, dx, dw, cols);
}
