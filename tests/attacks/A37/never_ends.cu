// A kernel that waits for a value that nobody writes.
#include <cstdint>
__global__ void waits(volatile float* y) {
    while (y[0] != 12345.0f) {}
}
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    waits<<<1, 1, 0, stream>>>(y);
}
