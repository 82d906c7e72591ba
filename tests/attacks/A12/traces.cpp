// Tries to trace and read every process that has a number, and a child of its own.
#include <cstdint>
#include <cstdio>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
static int target = 7;
static void attempt(int pid) {
    if (ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0) std::printf("TRACED attach %d\n", pid);
    if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0) std::printf("TRACED seize %d\n", pid);
    int value;
    iovec here{&value, sizeof value}, there{&target, sizeof target};
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) > 0) std::printf("TRACED read %d\n", pid);
    if (process_vm_writev(pid, &here, 1, &there, 1, 0) > 0) std::printf("TRACED write %d\n", pid);
    const long descriptor = syscall(SYS_pidfd_open, pid, 0);
    if (descriptor >= 0 && syscall(438, descriptor, 0, 0) >= 0) std::printf("TRACED pidfd_getfd %d\n", pid);
    if (descriptor >= 0) close(static_cast<int>(descriptor));
}
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    static bool tried = false;
    if (!tried) {
        const int child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        attempt(child);
        for (int pid = 1; pid < 3000; pid++)
            if (pid != getpid()) attempt(pid);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    tried = true;
    for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + 1;
}
