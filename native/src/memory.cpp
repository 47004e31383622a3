#include "memory.h"

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ringconv {

namespace {

constexpr size_t huge_page = size_t{2} << 20;
constexpr size_t kept = size_t{96} << 20;

void advise(void* memory, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    madvise(memory, bytes, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

}  // namespace

float* Buffer::floats(size_t count) {
    const size_t needed = count * sizeof(float);
    if (needed > bytes_) {
        release();
        const size_t alignment = needed < huge_page ? 4096 : huge_page;
        const size_t bytes = (needed + alignment - 1) / alignment * alignment;
        memory_ = std::aligned_alloc(alignment, bytes);
        if (!memory_) throw std::bad_alloc();
        bytes_ = bytes;
        if (bytes >= huge_page) advise(memory_, bytes);
    }
    return static_cast<float*>(memory_);
}

void Buffer::release() {
    std::free(memory_);
    memory_ = nullptr;
    bytes_ = 0;
}

void Buffer::trim() {
    if (bytes_ > kept) release();
}

void expect_writing(void* memory, size_t bytes) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t first = (begin + huge_page - 1) / huge_page * huge_page;
    const uintptr_t last = (begin + bytes) / huge_page * huge_page;
    if (first < last) advise(reinterpret_cast<void*>(first), last - first);
}

}  // namespace ringconv
