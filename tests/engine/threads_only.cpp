// A process without its first thread. "chain": threads of some microseconds that start each other. "holds": one
// that holds memory. Says "ready" when it is so.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

constexpr int kStacks = 1024, kBytes = 4096;
constexpr int kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
static char* stacks;

static char* stack_of(int64_t number) { return stacks + number % kStacks * kBytes + kBytes - 64; }
static int next(void* argument) {
    const int64_t number = reinterpret_cast<int64_t>(argument);
    if (number == 100 && write(1, "ready\n", 6) != 6) abort();
    clone(next, stack_of(number + 1), kThread, reinterpret_cast<void*>(number + 1));
    syscall(SYS_exit, 0);
    return 0;
}
static int hold(void* argument) {
    const size_t size = reinterpret_cast<size_t>(argument);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED || write(1, "ready\n", 6) != 6) abort();
    for (;;) pause();
}
int main(int count, char** words) {
    if (count != 2) return 2;
    stacks = static_cast<char*>(
        mmap(nullptr, kStacks * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
    const bool holds = std::strcmp(words[1], "holds") == 0;
    clone(holds ? hold : next, stack_of(0), kThread, reinterpret_cast<void*>(holds ? size_t(1) << 26 : 0));
    syscall(SYS_exit, 0);
}
