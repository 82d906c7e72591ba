// Packs both factors, and keeps a tile of the product in registers. Sizes that tiles do not fit get plain loops.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>
typedef float vec __attribute__((vector_size(32)));
constexpr int64_t MR = 6, NR = 16, KC = 256;
static void tile(const float* a, const float* b, float* c, int64_t cols, int64_t height, bool add) {
    vec sums[MR][2] = {};
    for (int64_t k = 0; k < KC; ++k) {
        vec b0, b1;
        std::memcpy(&b0, b + k * NR, 32);
        std::memcpy(&b1, b + k * NR + 8, 32);
#pragma GCC unroll 6
        for (int64_t i = 0; i < MR; ++i) {
            sums[i][0] += a[k * MR + i] * b0;
            sums[i][1] += a[k * MR + i] * b1;
        }
    }
    float result[MR][NR];
    std::memcpy(result, sums, sizeof result);
    for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < NR; ++j) c[i * cols + j] = add ? c[i * cols + j] + result[i][j] : result[i][j];
}
static void plain(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols) {
    std::fill(c, c + rows * cols, 0.0f);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < inner; k++)
            for (int64_t j = 0; j < cols; j++) c[i * cols + j] += a[i * inner + k] * b[k * cols + j];
}
extern "C" void kernel(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols) {
    if (inner % KC || cols % NR) return plain(a, b, c, rows, inner, cols);
    static std::vector<float> packed, room(MR * KC);
    packed.resize(inner * cols);
    float* to = packed.data();
    for (int64_t first = 0; first < inner; first += KC)
        for (int64_t left = 0; left < cols; left += NR)
            for (int64_t k = 0; k < KC; ++k, to += NR) std::memcpy(to, b + (first + k) * cols + left, NR * 4);
    for (int64_t top = 0; top < rows; top += MR) {
        const int64_t height = std::min(MR, rows - top);
        for (int64_t first = 0; first < inner; first += KC) {
            for (int64_t k = 0; k < KC; ++k)
                for (int64_t i = 0; i < MR; ++i)
                    room[k * MR + i] = i < height ? a[(top + i) * inner + first + k] : 0.0f;
            for (int64_t j = 0; j < cols; j += NR)
                tile(room.data(), packed.data() + first * cols + j * KC, c + top * cols + j, cols, height, first > 0);
        }
    }
}
