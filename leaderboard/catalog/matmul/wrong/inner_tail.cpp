// Wrong: the sum runs over whole groups of 4 and forgets the last inner % 4 products.
#include <cstdint>

extern "C" void kernel(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols) {
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < cols; ++j) c[i * cols + j] = 0;
        for (int64_t k = 0; k + 4 <= inner; k += 4)
            for (int64_t step = 0; step < 4; ++step)
                for (int64_t j = 0; j < cols; ++j)
                    c[i * cols + j] += a[i * inner + k + step] * b[(k + step) * cols + j];
    }
}
