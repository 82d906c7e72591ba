// Wrong: takes rows two at a time and forgets the last one of an odd number.
#include <cmath>
#include <cstdint>

static void norm(const float* in, const float* weight, const float* bias, float* out, int64_t cols) {
    float total = 0, squares = 0;
    for (int64_t col = 0; col < cols; ++col) total += in[col];
    const float mean = total / cols;
    for (int64_t col = 0; col < cols; ++col) squares += (in[col] - mean) * (in[col] - mean);
    const float scale = 1 / std::sqrt(squares / cols + 1e-5f);
    for (int64_t col = 0; col < cols; ++col) out[col] = (in[col] - mean) * scale * weight[col] + bias[col];
}

extern "C" void kernel(const float* x, const float* weight, const float* bias, float* y, int64_t rows,
                       int64_t cols) {
    for (int64_t row = 0; row + 1 < rows; row += 2) {
        norm(x + row * cols, weight, bias, y + row * cols, cols);
        norm(x + (row + 1) * cols, weight, bias, y + (row + 1) * cols, cols);
    }
}
