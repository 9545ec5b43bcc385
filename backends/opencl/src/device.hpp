// One OpenCL device: its context, memory, default stream, and a queue for what the host waits for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "device_memory.hpp"
#include "live_objects.hpp"
#include "platforms.hpp"
#include "programs.hpp"
#include "staging.hpp"
#include "stream.hpp"

namespace hal::opencl {

class Device {
  public:
    // Throws sdk::Error, with what the driver refuses.
    Device(Instance& instance, int32_t ordinal, FoundDevice found);
    // Waits for the default stream's work; user streams are closed.
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    [[nodiscard]] int32_t ordinal() const noexcept { return ordinal_; }
    [[nodiscard]] const DeviceInfo& info() const noexcept { return found_.info; }
    [[nodiscard]] cl_device_id id() const noexcept { return found_.id; }
    [[nodiscard]] cl_context context() const noexcept { return found_.context->get(); }
    [[nodiscard]] Instance& instance() const noexcept { return instance_; }
    [[nodiscard]] const Api& api() const noexcept { return api_; }
    [[nodiscard]] bool same_context(const Device& other) const noexcept { return context() == other.context(); }

    [[nodiscard]] std::unique_ptr<Queue> make_queue(int32_t priority) const;
    // For synchronous copies, which wait for no stream.
    [[nodiscard]] cl_command_queue transfer_queue() const noexcept { return transfer_queue_.get(); }
    // For the copies of collectives, one for each direction: a device may have an engine for each.
    [[nodiscard]] const Queue& queue_to_host() const noexcept { return queue_to_host_; }
    [[nodiscard]] const Queue& queue_from_host() const noexcept { return queue_from_host_; }

    // init_device and deinit_device: counted.
    void initialize();
    void deinitialize();
    [[nodiscard]] shared::LiveObjects live_objects();

  private:
    Instance& instance_;
    const Api& api_;
    const int32_t ordinal_;
    FoundDevice found_;
    const Queue transfer_queue_;  // before the memory, whose end needs it
    const Queue queue_to_host_;
    const Queue queue_from_host_;
    std::mutex init_mutex_;
    uint64_t init_count_ = 0;

  public:
    Memory memory;
    Staging staging;
    Programs programs;
    Stream default_stream;
    std::atomic<uint64_t> stream_count{0};
    std::atomic<uint64_t> event_count{0};
};

}  // namespace hal::opencl
