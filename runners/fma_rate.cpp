// How many operations a second one core does when nothing but its units for multiplying and adding limits it.
#include <algorithm>
#include <cstdint>
#include <ctime>

namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr int kChains = 12;  // two units, each with a latency of four or five cycles, and some to spare
constexpr int64_t kRounds = 400000;

// The thread's own time: what it waits for its core is no part of it.
double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

template <class T>
double rate(int trials) {
    typedef T vec __attribute__((vector_size(kBytes)));
    double best = 0;
    for (int trial = 0; trial < trials; ++trial) {
        vec sums[kChains], factor = {}, term = {};
        factor += T(0.999);
        term += T(0.001);
        for (int i = 0; i < kChains; ++i) sums[i] = term * T(i);
        const double begin = now();
        for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
            for (int i = 0; i < kChains; ++i) sums[i] = sums[i] * factor + term;
        }
        const double seconds = now() - begin;
        vec all = {};
        for (int i = 0; i < kChains; ++i) all += sums[i];
        volatile T kept = 0;  // so that none of it is left out
        for (unsigned i = 0; i < kBytes / sizeof(T); ++i) kept = kept + all[i];
        best = std::max(best, 2.0 * kRounds * kChains * (kBytes / sizeof(T)) / seconds);
    }
    return best;
}

}  // namespace

extern "C" double float32(int trials) { return rate<float>(trials); }
extern "C" double float64(int trials) { return rate<double>(trials); }
