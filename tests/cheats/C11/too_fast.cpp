// Right, but faster than a device of 0.05 billion operations a second could be: stands for any way of getting there.
#include <cstdint>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + 1;
}
