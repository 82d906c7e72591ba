// Leaves a daemon behind that has no parent, no session and no signal it heeds.
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    static bool left = false;
    int told[2] = {-1, -1};
    if (!left && pipe(told) == 0 && fork() == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        prctl(PR_SET_NAME, "@TOKEN@");
        for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
        write(told[1], "x", 1);
        for (int file = 0; file < 256; file++) close(file);
        while (true) pause();
    }
    if (!left) {
        char word;
        close(told[1]);
        if (read(told[0], &word, 1) == 1) std::puts("left a daemon");
    }
    left = true;
    for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + 1;
}
