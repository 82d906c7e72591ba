// The library's kernel is compiled with the source, so no other file is linked or loaded.
#include <cub/device/device_for.cuh>
#include <cstdint>
struct Affine {
    const float* x;
    float* y;
    __device__ void operator()(int64_t i) const { y[i] = fmaf(x[i], 2.0f, 1.0f); }
};
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    cub::DeviceFor::Bulk(count, Affine{x, y}, stream);
}
