// Chunks of 4096 values per block: their sums, a scan of these in double, then a scan within each chunk.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int THREADS = 256, EACH = 16, CHUNK = THREADS * EACH;

// Running sums over the block's threads; also leaves the total of all in *total.
__device__ float scan_block(float value, float* total) {
    __shared__ float shared[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        const float lower = __shfl_up_sync(~0u, value, step);
        if (lane >= step) value += lower;
    }
    __syncthreads();  // the call before this one may still be reading shared
    if (lane == 31) shared[warp] = value;
    __syncthreads();
    float before = 0, all = 0;
    for (int i = 0; i < THREADS / 32; ++i) {
        if (i < warp) before += shared[i];
        all += shared[i];
    }
    *total = all;
    return before + value;
}

__global__ void chunk_sums(const float* __restrict__ x, double* sums, int64_t cols, int64_t chunks) {
    const int64_t row = blockIdx.x / chunks, first = blockIdx.x % chunks * CHUNK;
    const float* in = x + row * cols;
    float value = 0;
    for (int64_t col = first + threadIdx.x; col < first + CHUNK && col < cols; col += THREADS)
        value += in[col];
    float total;
    scan_block(value, &total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// One thread block per row turns chunk sums into what comes before each chunk.
__global__ void before_chunks(double* sums, int64_t chunks) {
    __shared__ double shared[1024];
    double* mine = sums + blockIdx.x * chunks;
    double carried = 0;
    for (int64_t first = 0; first < chunks; first += 1024) {
        const int64_t at = first + threadIdx.x;
        const double own = at < chunks ? mine[at] : 0;
        shared[threadIdx.x] = own;
        __syncthreads();
        for (int step = 1; step < 1024; step *= 2) {
            const double lower = threadIdx.x >= step ? shared[threadIdx.x - step] : 0;
            __syncthreads();
            shared[threadIdx.x] += lower;
            __syncthreads();
        }
        if (at < chunks) mine[at] = carried + shared[threadIdx.x] - own;
        carried += shared[1023];
        __syncthreads();
    }
}

__global__ void scan_chunks(const float* __restrict__ x, const double* before, float* __restrict__ y,
                            int64_t cols, int64_t chunks) {
    // Loads and stores go through shared memory, so that they are coalesced while a thread scans EACH
    // neighbours.
    __shared__ float tile[CHUNK + CHUNK / 32];
    const int64_t row = blockIdx.x / chunks, first = blockIdx.x % chunks * CHUNK;
    const float* in = x + row * cols;
    float* out = y + row * cols;
    for (int i = threadIdx.x; i < CHUNK; i += THREADS)
        tile[i + i / 32] = first + i < cols ? in[first + i] : 0;
    __syncthreads();
    float sums[EACH];
    float sum = 0;
    for (int i = 0; i < EACH; ++i) {
        const int at = threadIdx.x * EACH + i;
        sum += tile[at + at / 32];
        sums[i] = sum;
    }
    float total;
    const float base = scan_block(sum, &total) - sum;
    const float carried = before ? float(before[blockIdx.x]) : 0;
    for (int i = 0; i < EACH; ++i) {
        const int at = threadIdx.x * EACH + i;
        tile[at + at / 32] = carried + (base + sums[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < CHUNK; i += THREADS)
        if (first + i < cols) out[first + i] = tile[i + i / 32];
}

// A warp per short row.
__global__ void warp_rows(const float* __restrict__ x, float* __restrict__ y, int64_t rows, int cols) {
    const int lane = threadIdx.x % 32;
    const int64_t row = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    if (row >= rows) return;  // a whole warp leaves together: its lanes share the row
    float carried = 0;
    for (int first = 0; first < cols; first += 32) {
        const int col = first + lane;
        float value = col < cols ? x[row * cols + col] : 0;
        for (int step = 1; step < 32; step *= 2) {
            const float lower = __shfl_up_sync(~0u, value, step);
            if (lane >= step) value += lower;
        }
        if (col < cols) y[row * cols + col] = carried + value;
        carried += __shfl_sync(~0u, value, 31);
    }
}

}  // namespace

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (cols <= 1024) {
        warp_rows<<<unsigned((rows + 7) / 8), 256, 0, stream>>>(x, y, rows, int(cols));
        return;
    }
    const int64_t chunks = (cols + CHUNK - 1) / CHUNK;
    const unsigned blocks = unsigned(rows * chunks);
    if (chunks == 1) {
        scan_chunks<<<blocks, THREADS, 0, stream>>>(x, nullptr, y, cols, chunks);
        return;
    }
    double* sums;
    if (cudaMallocAsync(&sums, blocks * sizeof(double), stream) != cudaSuccess) return;
    chunk_sums<<<blocks, THREADS, 0, stream>>>(x, sums, cols, chunks);
    before_chunks<<<unsigned(rows), 1024, 0, stream>>>(sums, chunks);
    scan_chunks<<<blocks, THREADS, 0, stream>>>(x, sums, y, cols, chunks);
    cudaFreeAsync(sums, stream);
}
