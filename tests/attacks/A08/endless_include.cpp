// Includes a file without an end.
#include "/dev/zero"
#include <cstdint>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {}
