// Tries to set every clock, and slows down its own time namespace.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <sched.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <unistd.h>
__attribute__((constructor)) static void tamper() {
    timespec now{};
    timeval then{};
    timex change{};
    change.modes = ADJ_FREQUENCY;
    if (clock_settime(CLOCK_REALTIME, &now) == 0) std::puts("SET clock_settime");
    if (settimeofday(&then, nullptr) == 0) std::puts("SET settimeofday");
    if (adjtimex(&change) >= 0) std::puts("SET adjtimex");
    if (unshare(0x80) == 0) std::puts("SET a time namespace");
    if (FILE* file = std::fopen("/proc/self/timens_offsets", "w")) {
        if (std::fputs("monotonic -100 0\n", file) >= 0 && std::fflush(file) == 0) std::puts("SET an offset");
        std::fclose(file);
    }
}
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    usleep(2000);
    for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + 1;
}
