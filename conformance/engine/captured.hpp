// What a process writes to one of its streams: counted to the end, the first and the last part kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hal::conformance {

class Captured {
  public:
    // The reading end of a pipe, which is closed with the object.
    explicit Captured(int end);
    ~Captured() { finish(); }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;

    [[nodiscard]] int fd() const { return fd_; }  // -1 when there will be no more
    [[nodiscard]] uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::string text() const;

    // What is there now, at most a megabyte: a process that writes without end must not keep its parent from looking at
    // the clock.
    void take();
    // What was taken so far.
    void forget();
    // Its writers are gone.
    void finish();

  private:
    void keep(std::string_view part);

    int fd_;
    uint64_t bytes_ = 0;
    std::string head_;
    std::string tail_;
};

}  // namespace hal::conformance
