// The ways to reach one entry of a back end, each in a loop. They are also what --instructions counts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backend.hpp"

namespace hal::bench {

// The back end that does nothing, and the function that its get_device slot holds as dlsym gives it.
class NullBackend {
  public:
    NullBackend();

    [[nodiscard]] const hal_backend* get() const { return backend_.get(); }

    using GetDevice = hal_status (*)(hal_instance* self, hal_dev* out_device);
    [[nodiscard]] GetDevice by_dlsym() const { return get_device_; }

    // "bench.null" without layers holds the plug-in's own function; otherwise a layer is measured too.
    [[nodiscard]] std::string note() const;

  private:
    Backend backend_;
    GetDevice get_device_;
};

struct Path {
    std::string_view name;
    void (*loop)(const NullBackend& backend, uint64_t count);  // makes count calls
};

void loop_dlsym(const NullBackend& backend, uint64_t count);
void loop_inline(const NullBackend& backend, uint64_t count);
void loop_exported(const NullBackend& backend, uint64_t count);

[[nodiscard]] std::span<const Path> dispatch_paths();

}  // namespace hal::bench
