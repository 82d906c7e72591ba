// Four copies of the histogram per thread, so that equal neighbours do not wait for each other's store.
#include <cstdint>
#include <cstring>

namespace {

constexpr int BINS = 1024, COPIES = 4;
constexpr int STRIDE =
    BINS + 16;  // copies 4096 bytes apart would look like the same address to a load buffer

void count_range(const int32_t* values, int64_t count, int32_t* counts) {
    alignas(64) int32_t copies[COPIES][STRIDE] = {};
    int64_t i = 0;
    for (; i + COPIES <= count; i += COPIES) {
        // Two values in one 8-byte load: loads are what is left to save.
        uint64_t pairs[COPIES / 2];
        std::memcpy(pairs, values + i, sizeof pairs);
        for (int pair = 0; pair < COPIES / 2; ++pair) {
            ++copies[2 * pair][uint32_t(pairs[pair])];
            ++copies[2 * pair + 1][pairs[pair] >> 32];
        }
    }
    for (; i < count; ++i) ++copies[0][values[i]];
    for (int bin = 0; bin < BINS; ++bin) {
        int32_t sum = 0;
        for (int copy = 0; copy < COPIES; ++copy) sum += copies[copy][bin];
        counts[bin] = sum;
    }
}

}  // namespace

extern "C" void kernel(const int32_t* values, int32_t* counts, int64_t count) {
    constexpr int64_t PART = 1 << 20;
    std::memset(counts, 0, BINS * sizeof(int32_t));
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < count; first += PART) {
        int32_t mine[BINS];
        count_range(values + first, count - first < PART ? count - first : PART, mine);
#pragma omp critical
        for (int bin = 0; bin < BINS; ++bin) counts[bin] += mine[bin];
    }
}
