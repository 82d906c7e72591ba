// Writes where no memory is.
#include <cstdint>
__global__ void writes(float* place) { *place = 1.0f; }
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    writes<<<1, 1, 0, stream>>>(reinterpret_cast<float*>(uintptr_t(0x10)));
}
