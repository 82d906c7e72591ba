// A device-side assertion that fails.
#undef NDEBUG
#include <cassert>
#include <cstdint>
__global__ void asserts(const float* x) { assert(x[0] == 12345.0f); }
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    asserts<<<1, 1, 0, stream>>>(x);
}
