// Running sums of 8 values by three shuffles in a register; a double carries the sum from block to block.
#include <cstdint>
#include <cstring>

namespace {

typedef float vec __attribute__((vector_size(32)));
typedef int32_t mask __attribute__((vector_size(32)));

// In-register running sums; index 8 is the first lane of a vector of zeros.
inline vec scan8(vec v) {
    const vec zero = {};
    v += __builtin_shuffle(v, zero, (mask){8, 0, 1, 2, 3, 4, 5, 6});
    v += __builtin_shuffle(v, zero, (mask){8, 9, 0, 1, 2, 3, 4, 5});
    v += __builtin_shuffle(v, zero, (mask){8, 9, 10, 11, 0, 1, 2, 3});
    return v;
}

inline vec last_everywhere(vec v) { return __builtin_shuffle(v, (mask){7, 7, 7, 7, 7, 7, 7, 7}); }

constexpr int64_t BLOCK = 256;  // values over which sums stay in float

}  // namespace

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; ++row) {
        const float* in = x + row * cols;
        float* out = y + row * cols;
        double carried = 0;
        int64_t col = 0;
        while (col + 8 <= cols) {
            const int64_t whole = (cols - col) / 8 * 8, length = whole < BLOCK ? whole : BLOCK;
            const float base = float(carried);
            vec before = {};  // sum of this block so far, in every lane
            for (int64_t i = 0; i < length; i += 8) {
                vec v;
                std::memcpy(&v, in + col + i, 32);
                v = scan8(v);
                const vec result = (v + before) + base;
                before += last_everywhere(v);
                std::memcpy(out + col + i, &result, 32);
            }
            carried += before[0];
            col += length;
        }
        for (; col < cols; ++col) {
            carried += in[col];
            out[col] = float(carried);
        }
    }
}
