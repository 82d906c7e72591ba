// Wrong: counts whole groups of 4 and forgets the last count % 4 values.
#include <cstdint>

extern "C" void kernel(const int32_t* values, int32_t* counts, int64_t count) {
    for (int bin = 0; bin < 1024; ++bin) counts[bin] = 0;
    for (int64_t i = 0; i + 4 <= count; i += 4)
        for (int64_t lane = 0; lane < 4; ++lane) ++counts[values[i + lane]];
}
