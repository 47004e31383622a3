#include "pool.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace ringconv {

namespace {

class Solo final : public Team {
public:
    void run(int count, const Task& task) override {
        for (int i = 0; i < count; ++i) task(i, own_);
    }
    Buffer& shared(int which) override { return shared_[which]; }

private:
    Buffer own_, shared_[shared_buffers];
};

// One round of tasks. Whoever takes part draws task numbers until there are none left.
struct Round {
    const Team::Task* task = nullptr;
    int count = 0;
    std::atomic<int> next{0};
    std::atomic<bool> failed{false};

    void take_part(Buffer& own) {
        try {
            for (int i; (i = next.fetch_add(1)) < count;) (*task)(i, own);
        } catch (...) {
            failed = true;
            next = count;
        }
    }
};

class Pool final : public Team {
public:
    std::mutex in_use;
    const pid_t owner = getpid();

    void set_threads(int threads) {
        while (static_cast<int>(buffers_.size()) < threads) buffers_.push_back(std::make_unique<Buffer>());
        wanted_ = threads - 1;
    }

    void run(int count, const Task& task) override {
        round_.task = &task;
        round_.count = count;
        round_.next = 0;
        round_.failed = false;
        const int helpers = hire(std::min(wanted_, count - 1));
        if (helpers > 0) call(helpers);
        round_.take_part(*buffers_[0]);
        if (helpers > 0) wait();
        if (round_.failed) throw std::bad_alloc();
    }

    Buffer& shared(int which) override { return shared_[which]; }

    void trim() {
        for (auto& buffer : buffers_) buffer->trim();
        for (auto& buffer : shared_) buffer.trim();
    }

private:
    // A thread looks out for work this many times before it goes to sleep: layers follow each other closely.
    static constexpr int patience = 4000;

    // As many of the threads wanted as the system gives.
    int hire(int helpers) {
        try {
            for (; threads_ < helpers; ++threads_) std::thread(&Pool::help, this, threads_ + 1).detach();
        } catch (const std::system_error&) {
        }
        return std::min(helpers, threads_);
    }

    void call(int helpers) {
        busy_ = helpers;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            helpers_ = helpers;
            generation_.fetch_add(1);
        }
        wake_.notify_all();
    }

    void wait() {
        for (int i = 0; i < patience && busy_ > 0; ++i) pause();
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [&] { return busy_ == 0; });
    }

    static void pause() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }

    void help(int number) {
        unsigned seen = 0;
        for (;;) {
            for (int i = 0; i < patience && generation_ == seen; ++i) pause();
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return generation_ != seen; });
                seen = generation_;
                if (number > helpers_) continue;
            }
            round_.take_part(*buffers_[number]);
            if (busy_.fetch_sub(1) == 1) {
                std::lock_guard<std::mutex> lock(mutex_);
                done_.notify_one();
            }
        }
    }

    std::vector<std::unique_ptr<Buffer>> buffers_;
    Buffer shared_[shared_buffers];
    Round round_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<unsigned> generation_{0};
    std::atomic<int> busy_{0};
    int helpers_ = 0, wanted_ = 0, threads_ = 0;
};

// The pool is never destroyed: its threads may outlive whatever would destroy it. After a fork the child has the
// parent's pool without its threads, and leaves it alone.
Pool* current_pool() {
    static std::atomic<Pool*> current{nullptr};
    Pool* pool = current;
    if (pool && pool->owner == getpid()) return pool;
    auto fresh = std::make_unique<Pool>();
    return current.compare_exchange_strong(pool, fresh.get()) ? fresh.release() : current_pool();
}

}  // namespace

void with_team(int threads, const std::function<void(Team&)>& work) {
    Pool* pool = current_pool();
    std::unique_lock<std::mutex> lock(pool->in_use, std::try_to_lock);
    if (!lock.owns_lock()) {
        Solo solo;
        return work(solo);
    }
    pool->set_threads(threads < 1 ? 1 : threads);
    struct Trim {
        Pool* pool;
        ~Trim() { pool->trim(); }
    } trim{pool};
    work(*pool);
}

}  // namespace ringconv
