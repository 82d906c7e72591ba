// Subtracts the row's maximum first.
#include <algorithm>
#include <cmath>
#include <cstdint>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        const float* in = x + r * cols;
        float* out = y + r * cols;
        const float top = *std::max_element(in, in + cols);
        double sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += out[c] = std::exp(in[c] - top);
        for (int64_t c = 0; c < cols; c++) out[c] = static_cast<float>(out[c] / sum);
    }
}
