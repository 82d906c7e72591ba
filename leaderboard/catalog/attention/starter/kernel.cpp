#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void kernel(const float* q, const float* k, const float* v, float* y, int64_t heads,
                       int64_t length, int64_t dim) {
    std::vector<float> scores(length);
    const float scale = 1 / std::sqrt(float(dim));
    for (int64_t h = 0; h < heads; ++h) {
        const int64_t start = h * length * dim;
        for (int64_t i = 0; i < length; ++i) {
            float peak = -INFINITY;
            for (int64_t j = 0; j <= i; ++j) {
                float sum = 0;
                for (int64_t d = 0; d < dim; ++d) sum += q[start + i * dim + d] * k[start + j * dim + d];
                scores[j] = sum * scale;
                peak = scores[j] > peak ? scores[j] : peak;
            }
            float total = 0;
            float* out = y + start + i * dim;
            for (int64_t d = 0; d < dim; ++d) out[d] = 0;
            for (int64_t j = 0; j <= i; ++j) {
                const float weight = std::exp(scores[j] - peak);
                total += weight;
                for (int64_t d = 0; d < dim; ++d) out[d] += weight * v[start + j * dim + d];
            }
            for (int64_t d = 0; d < dim; ++d) out[d] /= total;
        }
    }
}
