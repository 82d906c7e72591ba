// Sums in double precision.
#include <cstdint>
extern "C" void kernel(const float* x, float* s, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += x[r * cols + c];
        s[r] = static_cast<float>(sum);
    }
}
