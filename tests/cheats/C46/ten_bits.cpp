// Rounds the inputs as TF32 does.
#include <bit>
#include <cstdint>
#include <cstring>
static float rounded(float value) { return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000) & 0xffffe000); }
extern "C" void kernel(const float* a, const float* b, float* c, int64_t rows, int64_t inner, int64_t cols) {
    std::memset(c, 0, rows * cols * sizeof(float));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < inner; k++)
            for (int64_t j = 0; j < cols; j++) c[i * cols + j] += rounded(a[i * inner + k]) * rounded(b[k * cols + j]);
}
