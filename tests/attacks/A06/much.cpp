// Prints megabytes and works.
#include <cstdint>
#include <cstdio>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int i = 0; i < 40000; i++) std::puts("again and again and again and again");
    std::puts("THE END");
    for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + 1;
}
