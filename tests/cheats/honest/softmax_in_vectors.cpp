// Softmax whose exponential is a polynomial, so that the compiler works on several columns at once.
#pragma GCC optimize("no-trapping-math")
#include <bit>
#include <cstdint>
static float exp_nonpositive(float v) {
    v = v < -87.0f ? -87.0f : v;
    const float shifted = v * 1.44269504f + 12582912.0f;
    const float n = shifted - 12582912.0f;
    const float r = (v - n * 0.693145752f) - n * 1.42860677e-6f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const int32_t bits = (std::bit_cast<int32_t>(shifted) - 0x4B400000 + 127) << 23;
    return p * std::bit_cast<float>(bits);
}
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t row = 0; row < rows; ++row) {
        const float* __restrict in = x + row * cols;
        float* __restrict out = y + row * cols;
        float peak = in[0];
#pragma omp simd reduction(max : peak)
        for (int64_t col = 0; col < cols; ++col) peak = in[col] > peak ? in[col] : peak;
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (int64_t col = 0; col < cols; ++col) {
            const float e = exp_nonpositive(in[col] - peak);
            out[col] = e;
            total += e;
        }
        const float factor = 1.0f / total;
#pragma omp simd
        for (int64_t col = 0; col < cols; ++col) out[col] *= factor;
    }
}
