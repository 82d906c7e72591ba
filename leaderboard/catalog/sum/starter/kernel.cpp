#include <cstdint>

extern "C" void kernel(const float* x, float* total, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += x[i];
    total[0] = float(sum);
}
