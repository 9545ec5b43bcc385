// One opened CPU back end: its options, devices, streams and events, and whether it may be used now.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cpu_info.hpp"
#include "engine.hpp"
#include "hal/sdk.hpp"
#include "life.hpp"
#include "waiting.hpp"
#include "xccl.hpp"

namespace hal::cpu {

class Device;
class Streams;  // stream.hpp
class Events;   // event.hpp

// What the application may set for one instance.
struct Options {
    int32_t devices = 1;
    uint64_t memory_bytes = 0;  // of each device
    xccl::Options xccl;
};

// Reads the options `devices` and `memory` and those of the collectives. Throws sdk::Error INVALID_ARGUMENT naming
// option, value and what is allowed.
[[nodiscard]] Options read_options(const hal_host* host);

// What every entry may use, even before `initialize`. Entries that need no initialize take Opened&, all others
// Instance&.
class Opened {
  public:
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

    [[nodiscard]] const hal_host* host() const noexcept { return host_; }

    // HAL_OK, or FORKED with its text in a process that was forked off the one that made the instance.
    [[nodiscard]] hal_status admit() noexcept { return !forked() ? HAL_OK : life_.refuse(host_); }

    [[nodiscard]] bool forked() const noexcept { return life_.forked(); }
    [[nodiscard]] int32_t device_count() const noexcept { return static_cast<int32_t>(devices_.size()); }

    // Throws INVALID_DEVICE naming the index and the count.
    [[nodiscard]] Device& device(hal_dev device) {
        if (static_cast<uint32_t>(device) >= devices_.size()) [[unlikely]] {
            bad_device(device);
        }
        return *devices_[static_cast<uint32_t>(device)];
    }

    [[nodiscard]] const shared::Life& life() const noexcept { return life_; }

  protected:
    explicit Opened(const hal_host* host);
    ~Opened();
    [[noreturn]] void bad_device(hal_dev device) const;

    const hal_host* host_;
    shared::Life life_;
    std::vector<std::unique_ptr<Device>> devices_;
};

class Instance : public Opened {
  public:
    // Throws sdk::Error.
    explicit Instance(const hal_host* host);
    // Ends everything, live objects included: work that has not begun is skipped, callbacks still run, with CANCELLED.
    // Not in a forked child, where the threads are not, nor on a worker.
    ~Instance();

    // HAL_OK, FORKED or NOT_INITIALIZED, with its text.
    [[nodiscard]] hal_status admit() noexcept {
        return life_.state() == shared::Life::State::initialized ? HAL_OK : life_.refuse(host_);
    }

    // Counted. The first call makes the devices' memory and default streams, the last finalize ends them.
    void initialize();
    // Throws NOT_INITIALIZED, BUSY with the numbers of live objects, REENTRANT.
    void finalize();

    [[nodiscard]] const Options& options() const noexcept { return options_; }
    [[nodiscard]] Waiting& waiting() noexcept { return waiting_; }
    [[nodiscard]] Streams& streams() noexcept { return *streams_; }
    [[nodiscard]] Events& events() noexcept { return *events_; }
    [[nodiscard]] xccl::Engine& xccl() noexcept { return xccl_; }

    // Throws REENTRANT naming the entry if this thread is a worker of the instance: it would wait for itself.
    void refuse_on_worker(const char* entry) const;

    // For the workers themselves.
    void mark_worker() const noexcept;
    [[nodiscard]] bool on_worker() const noexcept;

    [[nodiscard]] const CpuInfo& cpu();

    // The instance is being destroyed: waits for other processes give up.
    [[nodiscard]] bool ending() const noexcept { return ending_.load(std::memory_order_relaxed); }

  private:
    void start_devices();
    void end_devices(bool cancel) noexcept;
    void refuse_live_objects() const;

    Options options_;
    Waiting waiting_;
    std::unique_ptr<Streams> streams_;
    std::unique_ptr<Events> events_;
    XcclPort xccl_port_{*this};
    xccl::Engine xccl_;
    std::once_flag cpu_once_;
    CpuInfo cpu_;
    std::mutex life_mutex_;
    uint64_t initialize_count_ = 0;
    std::atomic<bool> ending_{false};
};

// For entries that take Opened&: the entry's own instance.
[[nodiscard]] inline Instance& instance_of(Opened& opened) noexcept {
    return static_cast<Instance&>(opened);
}

}  // namespace hal::cpu
