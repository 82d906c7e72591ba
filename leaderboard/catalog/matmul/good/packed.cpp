// Packs panels of both matrices for the caches and computes tiles of 6 by 16 in vector registers.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

typedef float vec __attribute__((vector_size(32)));

constexpr int64_t MR = 6, NR = 16;               // a tile of c: 12 of AVX2's 16 registers
constexpr int64_t MC = 96, KC = 256, NC = 4080;  // a panel of a in L2, a panel of b in L3

// c tile = (or +=) packed a (KC by 6) times packed b (KC by 16). Edges were padded with zeros.
void tile(const float* a, const float* b, int64_t depth, float* c, int64_t stride, int64_t height,
          int64_t width, bool add) {
    vec sums[MR][2] = {};
    for (int64_t k = 0; k < depth; ++k) {
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
        for (int64_t j = 0; j < width; ++j) {
            float& place = c[i * stride + j];
            place = add ? place + result[i][j] : result[i][j];
        }
}

void pack_a(const float* a, int64_t stride, int64_t height, int64_t depth, float* to) {
    for (int64_t top = 0; top < height; top += MR)
        for (int64_t k = 0; k < depth; ++k)
            for (int64_t i = 0; i < MR; ++i) *to++ = top + i < height ? a[(top + i) * stride + k] : 0.0f;
}

void pack_b(const float* b, int64_t stride, int64_t depth, int64_t width, float* to) {
    for (int64_t left = 0; left < width; left += NR)
        for (int64_t k = 0; k < depth; ++k)
            for (int64_t j = 0; j < NR; ++j) *to++ = left + j < width ? b[k * stride + left + j] : 0.0f;
}

}  // namespace

extern "C" void kernel(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols) {
    std::vector<float> packed_b(KC * (std::min(NC, cols) + NR));
    for (int64_t left = 0; left < cols; left += NC) {
        const int64_t width = std::min(NC, cols - left);
        for (int64_t first = 0; first < inner; first += KC) {
            const int64_t depth = std::min(KC, inner - first);
            pack_b(b + first * cols + left, cols, depth, width, packed_b.data());
#pragma omp parallel
            {
                std::vector<float> packed_a((MC + MR) * KC);
#pragma omp for schedule(dynamic)
                for (int64_t top = 0; top < rows; top += MC) {
                    const int64_t height = std::min(MC, rows - top);
                    pack_a(a + top * inner + first, inner, height, depth, packed_a.data());
                    for (int64_t j = 0; j < width; j += NR)
                        for (int64_t i = 0; i < height; i += MR)
                            tile(packed_a.data() + i * depth, packed_b.data() + j * depth, depth,
                                 c + (top + i) * cols + left + j, cols, std::min(MR, height - i),
                                 std::min(NR, width - j), first > 0);
                }
            }
        }
    }
}
