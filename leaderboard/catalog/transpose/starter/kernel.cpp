#include <cstdint>

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t col = 0; col < cols; ++col) y[col * rows + row] = x[row * cols + col];
}
