// Wrong: from the third block of 64 columns on, only the sum of the block before is carried.
#include <cstdint>

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t row = 0; row < rows; ++row) {
        double before = 0;
        for (int64_t first = 0; first < cols; first += 64) {
            double sum = 0;
            for (int64_t col = first; col < first + 64 && col < cols; ++col) {
                sum += x[row * cols + col];
                y[row * cols + col] = float(before + sum);
            }
            before = sum;
        }
    }
}
