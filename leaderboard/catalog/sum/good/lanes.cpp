// Blocks of 4096 values in 64 float lanes, several vectors in flight; block sums are added in double.
#include <algorithm>
#include <cstdint>

namespace {

constexpr int64_t BLOCK = 4096;
constexpr int LANES = 64;

float block_sum(const float* x, int64_t count) {
    float lanes[LANES] = {};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += x[i + lane];
    for (int lane = 0; i < count; ++i, ++lane) lanes[lane] += x[i];
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    return lanes[0];
}

}  // namespace

extern "C" void kernel(const float* x, float* total, int64_t count) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t first = 0; first < count; first += BLOCK)
        sum += block_sum(x + first, std::min(BLOCK, count - first));
    total[0] = float(sum);
}
