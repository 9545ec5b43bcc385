// What a program writes that uses OpenCL itself: the peer of the OpenCL back end, on the same driver and device. Built
// without OpenCL it is always absent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace hal::bench {

class PlainOpenCl {
  public:
    // Shared virtual memory or buffers: two ranges of `size_bytes` with a queue. Throws Unavailable with the reason.
    static std::shared_ptr<PlainOpenCl> open(bool svm, uint64_t size_bytes);

    PlainOpenCl() = default;
    virtual ~PlainOpenCl() = default;
    PlainOpenCl(const PlainOpenCl&) = delete;
    PlainOpenCl& operator=(const PlainOpenCl&) = delete;

    // Blocking copies of the whole range between the host and the first, or from the first to the second.
    virtual void write(const void* host) const = 0;
    virtual void read(void* host) const = 0;
    virtual void copy() const = 0;

    // Sets the arguments of a kernel that fills 16 floats of the first range, enqueues it and flushes. `checked` keeps
    // its event, by which finish() then learns whether it failed, as our streams do for every command; without, a
    // failure goes unnoticed.
    virtual void launch(bool checked) = 0;
    virtual void finish() = 0;

    // c = a b for square matrices of floats by CLBlast, with buffers of its own; waits. Throws Unavailable without it.
    virtual void gemm(uint64_t n) = 0;
};

}  // namespace hal::bench
