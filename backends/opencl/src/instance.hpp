// One opened OpenCL back end: options, the library, devices, streams and events.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "api.hpp"
#include "engine.hpp"
#include "hal/sdk.hpp"
#include "life.hpp"
#include "options.hpp"
#include "user_kernels.hpp"
#include "xccl.hpp"

namespace hal::opencl {

class Device;
class Streams;  // stream.hpp
class Events;   // event.hpp

// What the entries that work before initialize may use. The begin of an Instance.
class Opened {
  public:
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    [[nodiscard]] const hal_host* host() const noexcept { return host_; }

  protected:
    explicit Opened(const hal_host* host) noexcept : host_(host) {}
    ~Opened() = default;

  private:
    const hal_host* host_;
};

class Instance : public Opened {
  public:
    // Throws sdk::Error. The driver is not touched.
    explicit Instance(const hal_host* host);
    // Ends everything, live objects included, after the work that is under way.
    ~Instance();
    // HAL_OK, FORKED or NOT_INITIALIZED, with its text.
    [[nodiscard]] hal_status admit() noexcept {
        return life_.state() == shared::Life::State::initialized ? HAL_OK : life_.refuse(host());
    }
    [[nodiscard]] const shared::Life& life() const noexcept { return life_; }

    // Counted. The first call opens libOpenCL and the devices, the last finalize closes the devices.
    void initialize();
    // Throws NOT_INITIALIZED, BUSY with the numbers of live objects, REENTRANT.
    void finalize();

    [[nodiscard]] const Api& api() const noexcept { return *api_; }
    [[nodiscard]] const Options& options() const noexcept { return options_; }
    // Those of which a device has the type; before initialize all. The array stays until the instance ends.
    [[nodiscard]] const std::vector<const hal_kernel*>& kernels() const noexcept;
    [[nodiscard]] int32_t device_count() const noexcept { return static_cast<int32_t>(devices_.size()); }
    // Throws INVALID_DEVICE naming the index and the count.
    [[nodiscard]] Device& device(hal_dev device) {
        if (static_cast<uint32_t>(device) >= devices_.size()) [[unlikely]] {
            bad_device(device);
        }
        return *devices_[static_cast<uint32_t>(device)];
    }
    [[nodiscard]] Streams& streams() noexcept { return *streams_; }
    [[nodiscard]] Events& events() noexcept { return *events_; }
    [[nodiscard]] xccl::Engine& xccl() noexcept { return xccl_; }

    // Throws REENTRANT naming the entry if this thread runs a stream's callbacks: it would wait for itself.
    void refuse_in_callback(const char* entry) const;
    [[nodiscard]] bool in_callback() const noexcept;
    // For the threads that run callbacks.
    void mark_callback_thread() const noexcept;

  private:
    [[noreturn]] void bad_device(hal_dev device) const;
    void end_devices();
    void refuse_live_objects() const;

    Options options_;
    UserKernels user_kernels_;
    shared::Life life_;
    std::mutex life_mutex_;
    uint64_t initialize_count_ = 0;
    XcclPort xccl_port_{*this};
    xccl::Engine xccl_;
    std::unique_ptr<Api> api_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::unique_ptr<Streams> streams_;
    std::unique_ptr<Events> events_;
};

}  // namespace hal::opencl
