// Ignores, blocks and handles every signal, then spins.
#include <cstdint>
#include <signal.h>
static void again(int) {}
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    sigset_t all;
    sigfillset(&all);
    for (int number = 1; number < 65; number++) signal(number, again);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    for (volatile int i = 0;; i = i + 1) {
    }
}
