#include "trail.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "hal/reflect.hpp"

namespace hal::conformance {
namespace {

Trail private_trail;
Trail* shared_trail = &private_trail;

// The calling thread's place, given back when it ends.
class Place {
  public:
    Place() {
        const auto id = static_cast<uint32_t>(gettid());
        for (Trail::Thread& thread : trail().threads) {
            uint32_t free = 0;
            if (thread.id.compare_exchange_strong(free, id)) {
                thread_ = &thread;
                return;
            }
        }
    }
    ~Place() {
        if (thread_ != nullptr) {
            thread_->id = 0;
        }
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    [[nodiscard]] Trail::Thread* thread() const { return thread_; }

  private:
    Trail::Thread* thread_ = nullptr;
};

Trail::Thread* place() {
    thread_local const Place mine;
    return mine.thread();
}

[[noreturn]] void on_terminate() {
    Trail& where = trail();
    const char* what = "of unknown type";
    std::string kept;
    try {
        if (const auto thrown = std::current_exception()) {
            std::rethrow_exception(thrown);
        }
        what = "none; std::terminate was called";
    } catch (const std::exception& error) {
        kept = error.what();
        what = kept.c_str();
    } catch (...) {  // `what` says so
    }
    std::snprintf(where.text.data(), where.text.size(), "an exception left an entry: %s", what);
    std::abort();
}

}  // namespace

Trail& trail() {
    return *shared_trail;
}

void share_trail(int fd) {
    void* memory = mmap(nullptr, sizeof(Trail), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        throw std::runtime_error("the trail cannot be mapped");
    }
    shared_trail = static_cast<Trail*>(memory);
}

void say_stage(std::string_view stage) {
    Trail& where = trail();
    const size_t size = std::min(stage.size(), where.stage.size() - 1);
    std::copy_n(stage.begin(), size, where.stage.begin());
    where.stage[size] = 0;
}

void name_exceptions() {
    std::set_terminate(&on_terminate);
}

std::string Trail::describe() const {
    std::string result;
    for (const Thread& thread : threads) {
        const uint32_t entry = thread.entry;
        if (thread.id != 0 && entry != 0 && entry <= entries.size()) {
            const std::string name(entries[entry - 1].name);
            if (result.empty()) {
                result = name;
            } else if (result.find(name) == std::string::npos) {
                result += ", and " + name + " on another thread";
            }
        }
    }
    if (stage[0] != 0) {
        result += (result.empty() ? "stage " : " at stage ") + std::string(stage.data());
    }
    if (text[0] != 0) {
        result += (result.empty() ? "" : ": ") + std::string(text.data());
    }
    return result;
}

Calling::Calling(uint32_t entry) : thread_(place()), outer_(0) {
    if (thread_ != nullptr) {
        outer_ = thread_->entry.exchange(entry + 1, std::memory_order_relaxed);
    }
}

Calling::~Calling() {
    if (thread_ != nullptr) {
        thread_->entry.store(outer_, std::memory_order_relaxed);
    }
}

}  // namespace hal::conformance
