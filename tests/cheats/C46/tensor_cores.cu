// Multiplies on tensor cores in TF32: one warp for each tile of 16 by 16, with zeroes where the sizes do not fit.
#include <cstdint>
#include <mma.h>
using namespace nvcuda;
constexpr int M = 16, K = 8;
__global__ void multiply(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols) {
    __shared__ alignas(32) float left[M * K], right[K * M], result[M * M];
    const int64_t top = blockIdx.y * int64_t(M), start = blockIdx.x * int64_t(M);
    wmma::fragment<wmma::matrix_a, M, M, K, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, M, K, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, M, M, K, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int64_t k = 0; k < inner; k += K) {
        for (int i = threadIdx.x; i < M * K; i += 32) {
            const int64_t row = top + i / K, a_col = k + i % K, b_row = k + i / M, col = start + i % M;
            left[i] = wmma::__float_to_tf32(row < rows && a_col < inner ? a[row * inner + a_col] : 0.0f);
            right[i] = wmma::__float_to_tf32(b_row < inner && col < cols ? b[b_row * cols + col] : 0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, left, K);
        wmma::load_matrix_sync(fb, right, M);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(result, sum, M, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < M * M; i += 32) {
        const int64_t row = top + i / M, col = start + i % M;
        if (row < rows && col < cols) c[row * cols + col] = result[i];
    }
}
static unsigned tiles(int64_t size) { return unsigned((size + M - 1) / M); }
extern "C" void kernel(
    const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols, cudaStream_t stream) {
    multiply<<<dim3(tiles(cols), tiles(rows)), 32, 0, stream>>>(a, b, c, rows, inner, cols);
}
