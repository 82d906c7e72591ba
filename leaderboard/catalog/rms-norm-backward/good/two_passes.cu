// A block per row for y and dx; dw over tiles of columns and chunks of rows, added up atomically.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

struct Sums {
    float squares, products;
};

__device__ Sums across_block(Sums s) {
    __shared__ Sums shared[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int step = 16; step > 0; step /= 2) {
        s.squares += __shfl_xor_sync(~0u, s.squares, step);
        s.products += __shfl_xor_sync(~0u, s.products, step);
    }
    __syncthreads();  // the row before this one may still be reading shared
    if (lane == 0) shared[warp] = s;
    __syncthreads();
    s = lane < warps ? shared[lane] : Sums{0, 0};
    for (int step = 16; step > 0; step /= 2) {
        s.squares += __shfl_xor_sync(~0u, s.squares, step);
        s.products += __shfl_xor_sync(~0u, s.products, step);
    }
    return s;
}

__global__ void rows_pass(const float* __restrict__ x, const float* __restrict__ weight,
                          const float* __restrict__ dy, float* __restrict__ y, float* __restrict__ dx,
                          float* __restrict__ scales, int64_t rows, int64_t cols) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t start = row * cols;
        Sums s = {0, 0};
        for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
            const float v = x[start + col];
            s.squares += v * v;
            s.products += dy[start + col] * weight[col] * v;
        }
        s = across_block(s);
        const float r = rsqrtf(s.squares / cols + 1e-6f), c = s.products * r / cols;
        if (threadIdx.x == 0) scales[row] = r;
        for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
            const float normed = x[start + col] * r;
            y[start + col] = normed * weight[col];
            dx[start + col] = r * (dy[start + col] * weight[col] - normed * c);
        }
    }
}

constexpr int ACROSS = 32, DOWN = 8, CHUNK = 256;

// Each block adds CHUNK rows of 32 columns.
__global__ void columns_pass(const float* __restrict__ x, const float* __restrict__ dy,
                             const float* __restrict__ scales, float* dw, int64_t rows, int64_t cols,
                             int64_t tiles) {
    __shared__ float shared[DOWN][ACROSS];
    const int64_t col = blockIdx.x % tiles * ACROSS + threadIdx.x, first = blockIdx.x / tiles * CHUNK;
    const int64_t last = first + CHUNK < rows ? first + CHUNK : rows;
    float sum = 0;
    if (col < cols)
        for (int64_t row = first + threadIdx.y; row < last; row += DOWN)
            sum += dy[row * cols + col] * x[row * cols + col] * scales[row];
    shared[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && col < cols) {
        for (int i = 1; i < DOWN; ++i) sum += shared[i][threadIdx.x];
        atomicAdd(&dw[col], sum);
    }
}

}  // namespace

extern "C" void kernel(const float* x, const float* weight, const float* dy, float* y, float* dx, float* dw,
                       int64_t rows, int64_t cols, cudaStream_t stream) {
    float* scales;
    if (cudaMallocAsync(&scales, rows * sizeof(float), stream) != cudaSuccess) return;
    cudaMemsetAsync(dw, 0, cols * sizeof(float), stream);
    const int threads = cols <= 512 ? 128 : cols <= 2048 ? 256 : 512;
    rows_pass<<<unsigned(rows < 65535 ? rows : 65535), threads, 0, stream>>>(x, weight, dy, y, dx, scales,
                                                                             rows, cols);
    const int64_t tiles = (cols + ACROSS - 1) / ACROSS, chunks = (rows + CHUNK - 1) / CHUNK;
    columns_pass<<<unsigned(tiles * chunks), dim3(ACROSS, DOWN), 0, stream>>>(x, dy, scales, dw, rows, cols,
                                                                              tiles);
    cudaFreeAsync(scales, stream);
}
