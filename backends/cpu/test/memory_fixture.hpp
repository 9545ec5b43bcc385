// Two devices of 64 MiB behind their tables.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "instance.hpp"
#include "tables.hpp"
#include "test_host.hpp"

namespace hal::cpu::test {

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

class Machine {
  public:
    static constexpr uint64_t limit = uint64_t{64} << 20;

    Machine() : host_({{"devices", "2"}, {"memory", "64m"}}), instance_(host_.get()) { instance_.initialize(); }

    [[nodiscard]] hal_instance* self() noexcept {
        return reinterpret_cast<hal_instance*>(static_cast<Opened*>(&instance_));
    }
    [[nodiscard]] Instance& instance() noexcept { return instance_; }

    // The last error of this thread.
    [[nodiscard]] static const std::string& text() { return Host::last_error(); }

    hal_dptr allocate(hal_dev device, uint64_t bytes) {
        hal_dptr ptr = 0;
        REQUIRE(memory_table.device_memory_allocate(self(), device, bytes, &ptr) == HAL_OK);
        REQUIRE(ptr % 256 == 0);
        return ptr;
    }

    [[nodiscard]] hal_memory_stats stats(hal_dev device) {
        hal_memory_stats stats{};
        stats.header.size = sizeof stats;
        REQUIRE(memory_table.device_memory_stats(self(), device, &stats) == HAL_OK);
        return stats;
    }

    void synchronize(hal_dev device) {
        REQUIRE(stream_table.synchronize_stream(self(), device, nullptr, HAL_NO_TIMEOUT) == HAL_OK);
    }

    std::vector<uint8_t> random_bytes(uint64_t bytes) {
        std::vector<uint8_t> data(bytes);
        for (uint64_t i = 0; i < bytes; i += 8) {
            const uint64_t value = random_();
            std::memcpy(&data[i], &value, std::min<uint64_t>(8, bytes - i));
        }
        return data;
    }

  private:
    Host host_;
    Instance instance_;
    std::mt19937_64 random_{42};
};

// While it lives, the device's default stream stands still.
class Gate {
  public:
    Gate(Machine& machine, hal_dev device) : state_(std::make_shared<State>()) {
        const auto hold = [](void* data, hal_dev, hal_stream, hal_status) {
            const std::unique_ptr<std::shared_ptr<State>> state(static_cast<std::shared_ptr<State>*>(data));
            (*state)->arrived = true;
            (*state)->arrived.notify_all();
            (*state)->open.wait(false);
        };
        auto data = std::make_unique<std::shared_ptr<State>>(state_);
        REQUIRE(stream_table.stream_add_callback(machine.self(), device, nullptr, hold, data.get()) == HAL_OK);
        static_cast<void>(data.release());  // the callback owns it
        state_->arrived.wait(false);
    }
    ~Gate() {
        state_->open = true;
        state_->open.notify_all();
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

  private:
    struct State {
        std::atomic<bool> arrived{false};
        std::atomic<bool> open{false};
    };
    std::shared_ptr<State> state_;
};

}  // namespace hal::cpu::test
