// Wrong: adds whole groups of 8 and forgets the last count % 8 values.
#include <cstdint>

extern "C" void kernel(const float* x, float* total, int64_t count) {
    double lanes[8] = {};
    for (int64_t i = 0; i + 8 <= count; i += 8)
        for (int lane = 0; lane < 8; ++lane) lanes[lane] += x[i + lane];
    double sum = 0;
    for (double lane : lanes) sum += lane;
    total[0] = float(sum);
}
