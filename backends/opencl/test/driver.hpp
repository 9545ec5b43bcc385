// The back end on a real driver (PoCL, each device twice in contexts of their own), whose functions a test may replace.
#pragma once

#include <catch2/catch.hpp>
#include <memory>

#include "../../shared/test/test_host.hpp"
#include "device.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl::test {

using shared::test::Host;
using shared::test::status_of;

class Driver {
  public:
    explicit Driver(const std::string& memory_mode = "buffer", Host::Options more = {})
        : host_(options(memory_mode, std::move(more))), instance_(std::make_unique<Instance>(host_.get())) {
        std::string reason;
        if (status_of([&] { instance_->initialize(); }, &reason) != HAL_OK) {
            instance_.reset();
            WARN("left out: " << reason);
        }
    }
    // False where PoCL is not installed: there is nothing to test then.
    [[nodiscard]] explicit operator bool() const { return instance_ != nullptr; }

    [[nodiscard]] Instance& instance() { return *instance_; }
    [[nodiscard]] hal_instance* self() { return reinterpret_cast<hal_instance*>(instance_.get()); }
    [[nodiscard]] Api& api() { return const_cast<Api&>(instance_->api()); }
    [[nodiscard]] Host& host() { return host_; }

  private:
    static Host::Options options(const std::string& memory_mode, Host::Options more) {
        more.insert({{"platform", "Portable"},
                     {"repeat", "2"},
                     {"memory", "64m"},
                     {"memory_mode", memory_mode},
                     {"program_cache", "off"}});
        return more;
    }

    Host host_;
    std::unique_ptr<Instance> instance_;
};

}  // namespace hal::opencl::test
