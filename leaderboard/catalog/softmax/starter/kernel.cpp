#include <cmath>
#include <cstdint>

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t row = 0; row < rows; ++row) {
        const float* in = x + row * cols;
        float* out = y + row * cols;
        float peak = in[0];
        for (int64_t col = 1; col < cols; ++col) peak = in[col] > peak ? in[col] : peak;
        double total = 0;  // many small terms beside a large one are lost in float32
        for (int64_t col = 0; col < cols; ++col) {
            out[col] = std::exp(in[col] - peak);
            total += out[col];
        }
        for (int64_t col = 0; col < cols; ++col) out[col] = float(out[col] / total);
    }
}
