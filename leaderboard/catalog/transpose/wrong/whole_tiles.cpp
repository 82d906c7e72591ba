// Wrong: only whole tiles of 16 by 16 are moved, the ragged edges stay unwritten.
#include <cstdint>

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t top = 0; top + 16 <= rows; top += 16)
        for (int64_t left = 0; left + 16 <= cols; left += 16)
            for (int64_t row = top; row < top + 16; ++row)
                for (int64_t col = left; col < left + 16; ++col) y[col * rows + row] = x[row * cols + col];
}
