// Tiles of 64 by 64 turned around in a small buffer: reads and writes both run along whole cache lines.
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

constexpr int64_t TILE = 64;

// y[c][r] = x[r][c] on 8 by 8 floats; the fixed size lets the compiler use vector shuffles.
void turn8(const float* x, int64_t x_stride, float* y, int64_t y_stride) {
    typedef float vec __attribute__((vector_size(32)));
    typedef int32_t mask __attribute__((vector_size(32)));
    vec a[8], b[8];
    for (int i = 0; i < 8; ++i) std::memcpy(&a[i], x + i * x_stride, 32);
    for (int i = 0; i < 8; i += 2) {
        b[i] = __builtin_shuffle(a[i], a[i + 1], (mask){0, 8, 2, 10, 4, 12, 6, 14});
        b[i + 1] = __builtin_shuffle(a[i], a[i + 1], (mask){1, 9, 3, 11, 5, 13, 7, 15});
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; ++j) {
            a[i + j] = __builtin_shuffle(b[i + j], b[i + j + 2], (mask){0, 1, 8, 9, 4, 5, 12, 13});
            a[i + j + 2] = __builtin_shuffle(b[i + j], b[i + j + 2], (mask){2, 3, 10, 11, 6, 7, 14, 15});
        }
    for (int i = 0; i < 4; ++i) {
        b[i] = __builtin_shuffle(a[i], a[i + 4], (mask){0, 1, 2, 3, 8, 9, 10, 11});
        b[i + 4] = __builtin_shuffle(a[i], a[i + 4], (mask){4, 5, 6, 7, 12, 13, 14, 15});
    }
    for (int i = 0; i < 8; ++i) std::memcpy(y + i * y_stride, &b[i], 32);
}

void whole_tile(const float* x, float* y, int64_t rows, int64_t cols) {
    alignas(64) float buffer[TILE * TILE];
    for (int64_t row = 0; row < TILE; row += 8)
        for (int64_t col = 0; col < TILE; col += 8)
            turn8(x + row * cols + col, cols, buffer + col * TILE + row, TILE);
    for (int64_t col = 0; col < TILE; ++col)
        std::memcpy(y + col * rows, buffer + col * TILE, TILE * sizeof(float));
}

}  // namespace

extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t top = 0; top < rows; top += TILE)
        for (int64_t left = 0; left < cols; left += TILE) {
            if (top + TILE <= rows && left + TILE <= cols) {
                whole_tile(x + top * cols + left, y + left * rows + top, rows, cols);
                continue;
            }
            const int64_t bottom = std::min(top + TILE, rows), right = std::min(left + TILE, cols);
            for (int64_t col = left; col < right; ++col)
                for (int64_t row = top; row < bottom; ++row) y[col * rows + row] = x[row * cols + col];
        }
}
