// Which entries of the plug-in are being called, kept where another process can read it: when a worker dies or hangs,
// its parent says where.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace hal::conformance {

struct Trail {
    struct Thread {
        std::atomic<uint32_t> id;     // 0: free
        std::atomic<uint32_t> entry;  // index into hal::entries plus 1; 0 outside
    };
    std::array<Thread, 128> threads;  // more threads than that leave no trail
    std::array<char, 256> text;       // of an exception that left an entry
    std::array<char, 64> stage;       // of a case, where it says so

    // "memory_copy_h2d, and synchronize_event on another thread"; empty outside of all entries.
    [[nodiscard]] std::string describe() const;
};

// The process' own trail, in shared memory if `share` was called before the first thread used it.
[[nodiscard]] Trail& trail();
// Maps the trail from this file, which stays open with whoever looks.
void share_trail(int fd);
// Where a case is, for who looks at the trail.
void say_stage(std::string_view stage);
// An exception that is let out of an entry ends the worker with its text in the trail.
void name_exceptions();

// Between its construction and its end the calling thread is in the entry.
class Calling {
  public:
    explicit Calling(uint32_t entry);
    ~Calling();
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;

  private:
    Trail::Thread* thread_;
    uint32_t outer_;
};

}  // namespace hal::conformance
