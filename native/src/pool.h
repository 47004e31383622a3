// Threads of our own: they come with the first call that wants them, sleep between calls and are left behind by fork.
#pragma once

#include <functional>
#include <vector>

#include "memory.h"

namespace ringconv {

// The threads of one call, each with a buffer of its own.
class Team {
public:
    using Task = std::function<void(int task, Buffer& own)>;

    virtual ~Team() = default;
    // Runs task(0) … task(count − 1), in any order and on any thread. Throws std::bad_alloc if one of them did.
    virtual void run(int count, const Task& task) = 0;
    virtual Buffer& shared(int which) = 0;
    static constexpr int shared_buffers = 2;
};

// Calls `work` with a team of `threads`. One call at a time has the threads; another that comes meanwhile
// from another thread is run by its caller alone.
void with_team(int threads, const std::function<void(Team&)>& work);

}  // namespace ringconv
