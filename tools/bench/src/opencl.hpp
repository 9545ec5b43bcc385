// The OpenCL peer: the ICD loader's overhead and a driver's launches. Built without OpenCL it is always absent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace hal::bench {

class OpenCl {
  public:
    // nullptr with the reason if no platform or device is here or a call fails.
    static std::shared_ptr<OpenCl> open(std::string* absence);

    OpenCl() = default;
    virtual ~OpenCl() = default;
    OpenCl(const OpenCl&) = delete;
    OpenCl& operator=(const OpenCl&) = delete;

    [[nodiscard]] virtual std::string platform() const = 0;

    // clRetainDevice on a root device, which drivers answer at once: through libOpenCL, and by the pointer of the
    // driver's own table. Both call `count` times.
    virtual void retain_by_loader(uint64_t count) const = 0;
    virtual void retain_by_driver(uint64_t count) const = 0;

    // Enqueues an empty kernel of one work item `count` times on an in-order queue, then waits for all.
    virtual void launch_then_finish(uint64_t count) const = 0;
};

}  // namespace hal::bench
