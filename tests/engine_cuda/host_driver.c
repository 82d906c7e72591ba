// Stands in for NVIDIA's driver on a machine without a GPU: "device" memory is host memory in memory files, and
// streams are done at once. It lets the whole protocol run (export, import, hand-shake, poison, comparison); what it
// cannot show is what a real device does, which tests/gpu is for.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef int Result;
typedef uint64_t Address;

Result cuInit(unsigned flags) { return 0; }
Result cuGetErrorString(int code, const char** text) { *text = "an error of the stand-in"; return 0; }
Result cuDevicePrimaryCtxRetain(void** context, int device) { *context = (void*)1; return 0; }
Result cuCtxSetCurrent(void* context) { return 0; }
Result cuCtxSynchronize(void) { return 0; }
Result cuStreamCreate(void** stream, unsigned flags) { *stream = (void*)7; return 0; }

Result cuMemGetAllocationGranularity(size_t* unit, const void* properties, int option) {
    *unit = 1 << 21;
    return 0;
}
Result cuMemCreate(uint64_t* handle, size_t size, const void* properties, unsigned long long flags) {
    int file = memfd_create("device", 0);
    if (file < 0 || ftruncate(file, (off_t)size)) return 2;
    *handle = (uint64_t)file;
    return 0;
}
Result cuMemExportToShareableHandle(int* descriptor, uint64_t handle, int kind, unsigned long long flags) {
    *descriptor = dup((int)handle);
    return *descriptor < 0;
}
Result cuMemImportFromShareableHandle(uint64_t* handle, void* descriptor, int kind) {
    *handle = (uint64_t)dup((int)(intptr_t)descriptor);
    return 0;
}
Result cuMemAddressReserve(Address* address, size_t size, size_t alignment, Address wanted, unsigned long long flags) {
    void* place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *address = (Address)(uintptr_t)place;
    return place == MAP_FAILED ? 2 : 0;
}
Result cuMemMap(Address address, size_t size, size_t offset, uint64_t handle, unsigned long long flags) {
    void* wanted = (void*)(uintptr_t)address;
    return mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, (int)handle, 0) == MAP_FAILED;
}
Result cuMemSetAccess(Address address, size_t size, const void* access, size_t count) { return 0; }
Result cuMemUnmap(Address address, size_t size) { return munmap((void*)(uintptr_t)address, size) != 0; }
Result cuMemAddressFree(Address address, size_t size) { return 0; }
Result cuMemRelease(uint64_t handle) { return close((int)handle) != 0; }

Result cuEventCreate(void** event, unsigned flags) { *event = calloc(1, sizeof(struct timespec)); return 0; }
Result cuEventRecord(void* event, void* stream) { return clock_gettime(CLOCK_MONOTONIC, event); }
Result cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
    const struct timespec *a = begin, *b = end;
    *milliseconds = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) * 1e-6);
    return 0;
}
