// Wrong: exponentials of bare scores, which overflow when scores are in the hundreds.
#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* q, const float* k, const float* v, float* y, int64_t heads,
                       int64_t length, int64_t dim) {
    const float scale = 1 / std::sqrt(float(dim));
    for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < length; ++i) {
            const int64_t start = h * length * dim;
            float* out = y + start + i * dim;
            float total = 0;
            for (int64_t d = 0; d < dim; ++d) out[d] = 0;
            for (int64_t j = 0; j <= i; ++j) {
                float score = 0;
                for (int64_t d = 0; d < dim; ++d) score += q[start + i * dim + d] * k[start + j * dim + d];
                const float weight = std::exp(score * scale);
                total += weight;
                for (int64_t d = 0; d < dim; ++d) out[d] += weight * v[start + j * dim + d];
            }
            for (int64_t d = 0; d < dim; ++d) out[d] /= total;
        }
}
