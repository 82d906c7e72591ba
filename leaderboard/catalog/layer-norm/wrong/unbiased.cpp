// Wrong: divides the squares by cols - 1, the unbiased variance.
#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* x, const float* weight, const float* bias, float* y, int64_t rows,
                       int64_t cols) {
    for (int64_t row = 0; row < rows; ++row) {
        const float* in = x + row * cols;
        float total = 0, squares = 0;
        for (int64_t col = 0; col < cols; ++col) total += in[col];
        const float mean = total / cols;
        for (int64_t col = 0; col < cols; ++col) squares += (in[col] - mean) * (in[col] - mean);
        const float scale = 1 / std::sqrt(squares / (cols > 1 ? cols - 1 : 1) + 1e-5f);
        for (int64_t col = 0; col < cols; ++col)
            y[row * cols + col] = (in[col] - mean) * scale * weight[col] + bias[col];
    }
}
