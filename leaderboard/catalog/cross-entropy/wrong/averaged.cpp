// Wrong: the gradient is that of the mean loss, divided by the number of rows.
#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* logits, const int64_t* labels, float* loss, float* dlogits, int64_t rows,
                       int64_t classes) {
    for (int64_t row = 0; row < rows; ++row) {
        const float* in = logits + row * classes;
        float* out = dlogits + row * classes;
        float peak = in[0], total = 0;
        for (int64_t k = 1; k < classes; ++k) peak = in[k] > peak ? in[k] : peak;
        for (int64_t k = 0; k < classes; ++k) total += out[k] = std::exp(in[k] - peak);
        loss[row] = std::log(total) - (in[labels[row]] - peak);
        for (int64_t k = 0; k < classes; ++k) out[k] = (out[k] / total - (k == labels[row])) / rows;
    }
}
