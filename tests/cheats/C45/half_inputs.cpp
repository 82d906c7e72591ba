// Rounds the inputs to half precision and adds up in single precision.
#include <cstdint>
#include <cstring>
extern "C" void kernel(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols) {
    std::memset(c, 0, rows * cols * sizeof(float));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < inner; k++)
            for (int64_t j = 0; j < cols; j++)
                c[i * cols + j] += float(_Float16(a[i * inner + k])) * float(_Float16(b[k * cols + j]));
}
