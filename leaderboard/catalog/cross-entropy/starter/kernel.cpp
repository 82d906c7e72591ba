#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* logits, const int64_t* labels, float* loss, float* dlogits, int64_t rows,
                       int64_t classes) {
    for (int64_t row = 0; row < rows; ++row) {
        const float* in = logits + row * classes;
        float* out = dlogits + row * classes;
        const int64_t label = labels[row];
        float peak = in[0];
        for (int64_t k = 1; k < classes; ++k) peak = in[k] > peak ? in[k] : peak;
        double total = 0;  // many small terms beside a large one are lost in float32
        for (int64_t k = 0; k < classes; ++k) {
            out[k] = std::exp(in[k] - peak);
            total += out[k];
        }
        loss[row] = std::log(total) - (in[label] - peak);
        for (int64_t k = 0; k < classes; ++k) out[k] /= total;
        out[label] -= 1;
    }
}
