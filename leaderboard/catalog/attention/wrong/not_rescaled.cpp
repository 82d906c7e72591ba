// Wrong: the online softmax forgets to rescale the output when the maximum rises; only the sum is rescaled.
#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* q, const float* k, const float* v, float* y, int64_t heads,
                       int64_t length, int64_t dim) {
    const float scale = 1 / std::sqrt(float(dim));
    for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < length; ++i) {
            const int64_t start = h * length * dim;
            float* out = y + start + i * dim;
            float peak = -INFINITY, total = 0;
            for (int64_t d = 0; d < dim; ++d) out[d] = 0;
            for (int64_t j = 0; j <= i; ++j) {
                float score = 0;
                for (int64_t d = 0; d < dim; ++d) score += q[start + i * dim + d] * k[start + j * dim + d];
                score *= scale;
                const float higher = score > peak ? score : peak;
                const float weight = std::exp(score - higher);
                total = total * std::exp(peak - higher) + weight;
                peak = higher;
                for (int64_t d = 0; d < dim; ++d) out[d] += weight * v[start + j * dim + d];
            }
            for (int64_t d = 0; d < dim; ++d) out[d] /= total;
        }
}
