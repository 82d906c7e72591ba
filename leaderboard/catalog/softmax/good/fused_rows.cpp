// Vectorised exponential written as a polynomial, three passes over one row while it is in cache, stores once.
#include <cstdint>
#include <cstring>

namespace {

// exp(v) for v <= 0 within 2 ulp: v = n ln 2 + r, a polynomial in r, n put into the exponent bits.
inline float exp_nonpositive(float v) {
    v = v < -87.0f ? -87.0f : v;
    const float shifted = v * 1.44269504f + 12582912.0f;  // adding 1.5 * 2^23 rounds to the nearest integer
    const float n = shifted - 12582912.0f;
    const float r = (v - n * 0.693145752f) - n * 1.42860677e-6f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    int32_t bits;
    std::memcpy(&bits, &shifted, 4);
    bits = (bits - 0x4B400000 + 127) << 23;
    float scale;
    std::memcpy(&scale, &bits, 4);
    return p * scale;
}

constexpr int LANES = 32;  // independent accumulators, so that the compiler can keep vectors of them

}  // namespace

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; ++row) {
        const float* __restrict in = x + row * cols;
        float* __restrict out = y + row * cols;
        float peaks[LANES], sums[LANES];
        for (int lane = 0; lane < LANES; ++lane) peaks[lane] = in[0], sums[lane] = 0;
        const int64_t whole = cols - cols % LANES;
        for (int64_t col = 0; col < whole; col += LANES)
            for (int lane = 0; lane < LANES; ++lane)
                peaks[lane] = in[col + lane] > peaks[lane] ? in[col + lane] : peaks[lane];
        for (int64_t col = whole; col < cols; ++col) peaks[0] = in[col] > peaks[0] ? in[col] : peaks[0];
        float peak = peaks[0];
        for (int lane = 1; lane < LANES; ++lane) peak = peaks[lane] > peak ? peaks[lane] : peak;
        for (int64_t col = 0; col < whole; col += LANES)
            for (int lane = 0; lane < LANES; ++lane) {
                const float e = exp_nonpositive(in[col + lane] - peak);
                out[col + lane] = e;
                sums[lane] += e;
            }
        float total = 0;
        for (int64_t col = whole; col < cols; ++col) {
            out[col] = exp_nonpositive(in[col] - peak);
            total += out[col];
        }
        for (int lane = 0; lane < LANES; ++lane) total += sums[lane];
        const float factor = 1.0f / total;
        for (int64_t col = 0; col < cols; ++col) out[col] *= factor;
    }
}
