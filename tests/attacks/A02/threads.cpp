// Starts threads that sleep, for ever.
#include <cstdint>
#include <system_error>
#include <thread>
#include <unistd.h>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    while (true) {
        try {
            std::thread([] { sleep(1000); }).detach();
        } catch (const std::system_error&) {
        }
    }
}
