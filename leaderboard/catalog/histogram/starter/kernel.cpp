#include <cstdint>

extern "C" void kernel(const int32_t* values, int32_t* counts, int64_t count) {
    for (int64_t bin = 0; bin < 1024; ++bin) counts[bin] = 0;
    for (int64_t i = 0; i < count; ++i) ++counts[values[i]];
}
