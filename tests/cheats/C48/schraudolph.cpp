// Builds the exponential from the bits of a linear function.
#include <algorithm>
#include <bit>
#include <cstdint>
static float fast_exp(float value) {
    return value < -80 ? 0 : std::bit_cast<float>(static_cast<int32_t>(12102203.0f * value + 1064866805.0f));
}
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        const float* in = x + r * cols;
        float* out = y + r * cols;
        const float top = *std::max_element(in, in + cols);
        float sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += out[c] = fast_exp(in[c] - top);
        for (int64_t c = 0; c < cols; c++) out[c] /= sum;
    }
}
