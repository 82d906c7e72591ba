// Shares the work among threads and waits for all of them.
#include <cstdint>
#include <thread>
#include <vector>
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t count = rows * cols, share = (count + 3) / 4;
    std::vector<std::thread> threads;
    for (int64_t start = 0; start < count; start += share) {
        threads.emplace_back([=] {
            for (int64_t i = start; i < count && i < start + share; i++) y[i] = 2 * x[i] + 1;
        });
    }
    for (auto& thread : threads) thread.join();
}
