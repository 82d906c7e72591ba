// Images padded once, weights reordered; blocks of 16 pixels by 6 filters stay in vector registers.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

typedef float vec __attribute__((vector_size(32)));

constexpr int64_t PIXELS = 16, FILTERS = 6;  // 12 of AVX2's 16 registers

// The image with a border of zeros, and wide enough that a block may read past the last column.
void pad(const float* x, int64_t channels, int64_t height, int64_t width, int64_t stride, float* to) {
    std::fill(to, to + channels * (height + 2) * stride, 0.0f);
    for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < height; ++i)
            std::memcpy(to + (c * (height + 2) + i + 1) * stride + 1, x + (c * height + i) * width,
                        width * sizeof(float));
}

// packed: for each channel and place in the filter, FILTERS weights next to each other.
void block(const float* in, int64_t plane, int64_t stride, int64_t channels, const float* packed,
           float (&result)[FILTERS][PIXELS]) {
    vec sums[FILTERS][2] = {};
    for (int64_t c = 0; c < channels; ++c)
        for (int64_t p = 0; p < 3; ++p)
            for (int64_t q = 0; q < 3; ++q, packed += FILTERS) {
                vec a, b;
                std::memcpy(&a, in + c * plane + p * stride + q, 32);
                std::memcpy(&b, in + c * plane + p * stride + q + 8, 32);
#pragma GCC unroll 6
                for (int64_t f = 0; f < FILTERS; ++f) {
                    sums[f][0] += packed[f] * a;
                    sums[f][1] += packed[f] * b;
                }
            }
    std::memcpy(result, sums, sizeof result);
}

}  // namespace

extern "C" void kernel(const float* x, const float* weight, const float* bias, float* y, int64_t batch,
                       int64_t channels, int64_t height, int64_t width, int64_t filters) {
    const int64_t groups = (filters + FILTERS - 1) / FILTERS, taps = channels * 9;
    std::vector<float> packed(groups * taps * FILTERS);
    for (int64_t f = 0; f < filters; ++f)
        for (int64_t tap = 0; tap < taps; ++tap)
            packed[(f / FILTERS * taps + tap) * FILTERS + f % FILTERS] = weight[f * taps + tap];

    const int64_t stride = (width + PIXELS - 1) / PIXELS * PIXELS + 2, plane = (height + 2) * stride;
    std::vector<float> padded(channels * plane);
    for (int64_t n = 0; n < batch; ++n) {
        pad(x + n * channels * height * width, channels, height, width, stride, padded.data());
#pragma omp parallel for collapse(2) schedule(static)
        for (int64_t group = 0; group < groups; ++group)
            for (int64_t i = 0; i < height; ++i)
                for (int64_t j = 0; j < width; j += PIXELS) {
                    float result[FILTERS][PIXELS];
                    block(padded.data() + i * stride + j, plane, stride, channels,
                          packed.data() + group * taps * FILTERS, result);
                    const int64_t first = group * FILTERS;
                    for (int64_t f = first; f < std::min(first + FILTERS, filters); ++f) {
                        float* out = y + ((n * filters + f) * height + i) * width + j;
                        for (int64_t k = 0; k < std::min(PIXELS, width - j); ++k)
                            out[k] = std::max(result[f - first][k] + bias[f], 0.0f);
                    }
                }
    }
}
