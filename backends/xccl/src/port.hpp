// What the engine needs of the back end that links it.
#pragma once

#include <memory>

#include "hal/types.h"
#include "mapping.hpp"

namespace hal::xccl {

class Batch;

// What a stream runs: in its order, also when the stream has failed or is being ended, which it is told.
class Work {
  public:
    Work(std::shared_ptr<Batch> batch, bool leads) noexcept : batch_(std::move(batch)), leads_(leads) {}
    // Throws sdk::Error, which makes the stream fail.
    hal_status operator()(hal_status stream_status);

  private:
    std::shared_ptr<Batch> batch_;
    bool leads_;
};

// Device memory that the host reaches by its address. All throw sdk::Error as the entries of the back end do.
class Port {
  public:
    Port() = default;
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    virtual ~Port() = default;

    // Throws INVALID_DEVICE.
    [[nodiscard]] virtual Arena arena(hal_dev device) = 0;
    // Throws INVALID_ARGUMENT unless the range lies in memory that the device may use; `what` it is.
    virtual void require_memory(hal_dev device, hal_dptr address, uint64_t bytes, const char* what) = 0;
    // Throws INVALID_HANDLE.
    virtual void require_stream(hal_dev device, hal_stream stream) = 0;
    // Throws what enqueuing throws; nothing is enqueued then.
    virtual void enqueue(hal_dev device, hal_stream stream, Work work) = 0;
    // Throws REENTRANT naming the entry on a thread that runs the work of a stream.
    virtual void refuse_on_stream(const char* entry) const = 0;
};

}  // namespace hal::xccl
