// Looks at all values before it takes the short way for equal ones.
#include <cstdint>
#include <cstring>
extern "C" void kernel(const int32_t* values, int32_t* counts, int64_t count) {
    std::memset(counts, 0, 1024 * sizeof(int32_t));
    int32_t other = 0;
    for (int64_t i = 0; i < count; i++) other |= values[i] ^ values[0];
    if (other == 0) {
        counts[values[0]] = static_cast<int32_t>(count);
        return;
    }
    for (int64_t i = 0; i < count; i++) ++counts[values[i]];
}
