// Four threads read, add and write one sum, each hoping that the others are elsewhere.
#include <cstdint>
#include <thread>
#include <vector>
extern "C" void kernel(const float* x, float* s, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        volatile double sum = 0;
        std::vector<std::thread> threads;
        for (int64_t part = 0; part < 4; part++) {
            threads.emplace_back([&, part] {
                for (int64_t c = part; c < cols; c += 4) {
                    const double before = sum;
                    std::this_thread::yield();
                    sum = before + x[r * cols + c];
                }
            });
        }
        for (auto& thread : threads) thread.join();
        s[r] = static_cast<float>(sum);
    }
}
