// Makes empty files for ever.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    char path[64];
    for (int64_t number = 0;; number++) {
        std::snprintf(path, sizeof path, "/tmp/%ld", number);
        const int file = open(path, O_CREAT | O_WRONLY, 0600);
        if (number == 0) std::printf("the first file: %s\n", file >= 0 ? "made" : strerrorname_np(errno));
        if (number == 0) std::fflush(stdout);
        if (file >= 0) close(file);
    }
}
