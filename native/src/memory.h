// Memory that is kept between calls, and advice about memory that is not ours.
#pragma once

#include <cstddef>

namespace ringconv {

// A block of floats on huge pages where the system has them. Its content does not survive growth.
class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { release(); }

    // At least so many floats, aligned to a cache line. Throws std::bad_alloc.
    float* floats(size_t count);
    void release();
    // Gives back what is more than is worth keeping until the next call.
    void trim();

private:
    void* memory_ = nullptr;
    size_t bytes_ = 0;
};

// Asks for huge pages under a result that nobody has touched yet: a page fault per 4 KB costs more than writing it.
void expect_writing(void* memory, size_t bytes);

}  // namespace ringconv
