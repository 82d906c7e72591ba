// Wrong: counts in 16 bits, which overflow where one value is frequent.
#include <cstdint>

extern "C" void kernel(const int32_t* values, int32_t* counts, int64_t count) {
    uint16_t narrow[1024] = {};
    for (int64_t i = 0; i < count; ++i) ++narrow[values[i]];
    for (int bin = 0; bin < 1024; ++bin) counts[bin] = narrow[bin];
}
