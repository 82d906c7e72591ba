// Wrong: denormal numbers are flushed to zero on the way.
#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t col = 0; col < cols; ++col) {
            const float value = x[row * cols + col];
            y[col * rows + row] = std::fabs(value) < 1.17549435e-38f ? 0.0f : value;
        }
}
