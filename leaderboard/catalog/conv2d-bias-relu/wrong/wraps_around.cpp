// Wrong: columns beside the image are taken from the neighbouring rows, as without a border check.
#include <cstdint>

extern "C" void kernel(const float* x, const float* weight, const float* bias, float* y, int64_t batch,
                       int64_t channels, int64_t height, int64_t width, int64_t filters) {
    for (int64_t n = 0; n < batch; ++n)
        for (int64_t f = 0; f < filters; ++f)
            for (int64_t i = 0; i < height; ++i)
                for (int64_t j = 0; j < width; ++j) {
                    float sum = bias[f];
                    for (int64_t c = 0; c < channels; ++c)
                        for (int64_t p = 0; p < 3; ++p)
                            for (int64_t q = 0; q < 3; ++q) {
                                const int64_t at = (i + p - 1) * width + j + q - 1;
                                if (at < 0 || at >= height * width) continue;
                                sum += x[(n * channels + c) * height * width + at] *
                                       weight[((f * channels + c) * 3 + p) * 3 + q];
                            }
                    y[((n * filters + f) * height + i) * width + j] = sum > 0 ? sum : 0;
                }
}
