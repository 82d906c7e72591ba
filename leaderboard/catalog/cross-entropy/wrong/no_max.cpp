// Wrong: does not subtract the row's maximum, so that large logits overflow to infinity.
#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* logits, const int64_t* labels, float* loss, float* dlogits, int64_t rows,
                       int64_t classes) {
    for (int64_t row = 0; row < rows; ++row) {
        const float* in = logits + row * classes;
        float* out = dlogits + row * classes;
        float total = 0;
        for (int64_t k = 0; k < classes; ++k) total += out[k] = std::exp(in[k]);
        loss[row] = std::log(total) - in[labels[row]];
        for (int64_t k = 0; k < classes; ++k) out[k] /= total;
        out[labels[row]] -= 1;
    }
}
