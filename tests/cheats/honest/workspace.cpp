// Keeps a workspace between calls: memory is remembered, answers are not.
#include <cstdint>
#include <vector>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    static std::vector<float> twice;
    twice.resize(rows * cols);
    for (int64_t i = 0; i < rows * cols; i++) twice[i] = 2 * x[i];
    for (int64_t i = 0; i < rows * cols; i++) y[i] = twice[i] + 1;
}
