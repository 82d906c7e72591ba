// Blocks of 48 queries against blocks of 64 keys: both products in vector registers, with the online softmax.

// Comparisons may be turned into selects, without which no loop holding one is vectorised.
#pragma GCC optimize("no-trapping-math")

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int64_t QUERIES = 48, KEYS = 64, MOST = 64;  // MOST: largest dim

typedef float vec __attribute__((vector_size(32)));

// exp(v) for v <= 0 within 2 ulp: v = n ln 2 + r, a polynomial in r, n put into the exponent bits.
inline float exp_nonpositive(float v) {
    v = v < -87.0f ? -87.0f : v;
    const float shifted = v * 1.44269504f + 12582912.0f;  // adding 1.5 * 2^23 rounds to the nearest integer
    const float n = shifted - 12582912.0f;
    const float r = (v - n * 0.693145752f) - n * 1.42860677e-6f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const int32_t bits = (std::bit_cast<int32_t>(shifted) - 0x4B400000 + 127) << 23;
    return p * std::bit_cast<float>(bits);
}

// out (6 by 16) += a (6 by depth) * b (depth by 16).
inline void tile(const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t depth,
                 float* out) {
    vec sums[6][2];
    for (int64_t i = 0; i < 6; ++i) std::memcpy(sums[i], out + i * 64, 64);
    for (int64_t k = 0; k < depth; ++k) {
        vec b0, b1;
        std::memcpy(&b0, b + k * b_stride, 32);
        std::memcpy(&b1, b + k * b_stride + 8, 32);
#pragma GCC unroll 6
        for (int64_t i = 0; i < 6; ++i) {
            sums[i][0] += a[i * a_stride + k] * b0;
            sums[i][1] += a[i * a_stride + k] * b1;
        }
    }
    for (int64_t i = 0; i < 6; ++i) std::memcpy(out + i * 64, sums[i], 64);
}

// The keys of one head in blocks of KEYS, each transposed and padded with zeros.
void transpose(const float* k, int64_t length, int64_t dim, float* to) {
    for (int64_t left = 0; left < length; left += KEYS)
        for (int64_t d = 0; d < dim; ++d)
            for (int64_t j = left; j < left + KEYS; ++j) *to++ = j < length ? k[j * dim + d] : 0.0f;
}

// One block of queries, those from `first` on, of one head.
void queries(const float* q, const float* keys, const float* v, float* y, int64_t first, int64_t length,
             int64_t dim) {
    alignas(64) float qs[QUERIES][MOST] = {}, sums[QUERIES][MOST] = {}, scores[QUERIES][KEYS];
    float peaks[QUERIES], totals[QUERIES] = {};
    const int64_t count = std::min(QUERIES, length - first);
    const float scale = 1 / std::sqrt(float(dim));
    for (int64_t i = 0; i < QUERIES; ++i) peaks[i] = -INFINITY;
    for (int64_t i = 0; i < count; ++i)
        for (int64_t d = 0; d < dim; ++d) qs[i][d] = q[(first + i) * dim + d] * scale;

    for (int64_t left = 0; left < first + count; left += KEYS) {
        const int64_t width = std::min(KEYS, length - left);
        std::memset(scores, 0, sizeof scores);
        for (int64_t i = 0; i < QUERIES; i += 6)
            for (int64_t j = 0; j < KEYS; j += 16)
                tile(qs[i], MOST, keys + left * dim + j, KEYS, dim, &scores[i][j]);
        for (int64_t i = 0; i < count; ++i) {
            float* __restrict row = scores[i];
            const int64_t seen = std::clamp(first + i - left + 1, int64_t(0), width);
            if (seen == 0) {
                std::memset(row, 0, KEYS * sizeof(float));
                continue;
            }
            float peak = peaks[i];
#pragma omp simd reduction(max : peak)
            for (int64_t j = 0; j < seen; ++j) peak = row[j] > peak ? row[j] : peak;
            float total = 0;
#pragma omp simd reduction(+ : total)
            for (int64_t j = 0; j < seen; ++j) {
                row[j] = exp_nonpositive(row[j] - peak);
                total += row[j];
            }
            for (int64_t j = seen; j < KEYS; ++j) row[j] = 0;
            const float shrink = std::exp(peaks[i] - peak);
            for (int64_t d = 0; d < MOST; ++d) sums[i][d] *= shrink;
            totals[i] = totals[i] * shrink + total;
            peaks[i] = peak;
        }
        for (int64_t i = count; i < QUERIES; ++i) std::memset(scores[i], 0, KEYS * sizeof(float));
        for (int64_t i = 0; i < QUERIES; i += 6)
            for (int64_t d = 0; d < dim; d += 16)
                tile(scores[i], KEYS, v + left * dim + d, dim, width, &sums[i][d]);
    }
    for (int64_t i = 0; i < count; ++i)
        for (int64_t d = 0; d < dim; ++d) y[(first + i) * dim + d] = sums[i][d] / totals[i];
}

}  // namespace

// dim is 32 or 64.
extern "C" void kernel(const float* q, const float* k, const float* v, float* y, int64_t heads,
                       int64_t length, int64_t dim) {
    const int64_t padded = (length + KEYS - 1) / KEYS * KEYS;
    std::vector<float> keys(heads * padded * dim);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t h = 0; h < heads; ++h)
            transpose(k + h * length * dim, length, dim, keys.data() + h * padded * dim);
#pragma omp for collapse(2) schedule(dynamic)
        for (int64_t h = 0; h < heads; ++h)
            for (int64_t first = 0; first < length; first += QUERIES) {
                const int64_t start = h * length * dim;
                queries(q + start, keys.data() + h * padded * dim, v + start, y + start, first, length, dim);
            }
    }
}
