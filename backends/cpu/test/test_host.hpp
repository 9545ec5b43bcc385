// The host of tests (shared/test/test_host.hpp), and an instance that is ready.
#pragma once

#include <string>

#include "../../shared/test/test_host.hpp"
#include "instance.hpp"

namespace hal::cpu::test {

using shared::test::Host;
using shared::test::status_of;

// An initialised instance, and the pointer that table entries take.
class OpenInstance {
  public:
    explicit OpenInstance(int devices = 1)
        : host_({{"devices", std::to_string(devices)}, {"memory", "1m"}}), instance_(host_.get()) {
        instance_.initialize();
    }

    [[nodiscard]] Instance& instance() noexcept { return instance_; }
    [[nodiscard]] hal_instance* self() noexcept {
        return reinterpret_cast<hal_instance*>(static_cast<hal::cpu::Opened*>(&instance_));
    }

  private:
    Host host_;
    Instance instance_;
};

}  // namespace hal::cpu::test
