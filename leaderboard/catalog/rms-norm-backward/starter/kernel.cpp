#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void kernel(const float* x, const float* weight, const float* dy, float* y, float* dx, float* dw,
                       int64_t rows, int64_t cols) {
    std::vector<double> sums(cols);
    for (int64_t row = 0; row < rows; ++row) {
        const int64_t start = row * cols;
        float squares = 0, products = 0;
        for (int64_t col = 0; col < cols; ++col) {
            squares += x[start + col] * x[start + col];
            products += dy[start + col] * weight[col] * x[start + col];
        }
        const float r = 1 / std::sqrt(squares / cols + 1e-6f);
        const float c = products * r / cols;
        for (int64_t col = 0; col < cols; ++col) {
            const float normed = x[start + col] * r;
            y[start + col] = normed * weight[col];
            dx[start + col] = r * (dy[start + col] * weight[col] - normed * c);
            sums[col] += dy[start + col] * normed;
        }
    }
    for (int64_t col = 0; col < cols; ++col) dw[col] = float(sums[col]);
}
