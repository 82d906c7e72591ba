// Wrong: does not subtract the row's maximum, so that large inputs overflow to infinity and give NaN.
#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t row = 0; row < rows; ++row) {
        float total = 0;
        for (int64_t col = 0; col < cols; ++col) {
            y[row * cols + col] = std::exp(x[row * cols + col]);
            total += y[row * cols + col];
        }
        for (int64_t col = 0; col < cols; ++col) y[row * cols + col] /= total;
    }
}
