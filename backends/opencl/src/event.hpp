// Events: each holds its most recent record, a point of a stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "stream.hpp"

namespace hal::opencl {

// "Event" is the driver's; this is the contract's.
class RecordedEvent {
  public:
    RecordedEvent() = default;
    RecordedEvent(const RecordedEvent&) = delete;
    RecordedEvent& operator=(const RecordedEvent&) = delete;

    // ---- Life; open and close alternate, closed at first ----
    void open(Device& device, hal_event handle, uint32_t flags);
    void close();

    // ---- Any thread; a closed or recycled event throws INVALID_HANDLE ----
    void record(hal_event handle, Stream& stream, hal_stream stream_handle);
    [[nodiscard]] Point latest(hal_event handle);

    // The record and the time when it was reached, 0 until then; INVALID_ARGUMENT naming `role` for an event without.
    struct Timed {
        Point point;
        uint64_t time_ns;                   // by the host's clock
        std::optional<uint64_t> device_ns;  // by the device's, with the option profiling
        const Device* device;
    };
    [[nodiscard]] Timed timed(hal_event handle, const char* role);

    [[nodiscard]] Device& device() const noexcept { return *device_; }

  private:
    void require_open(hal_event handle) const;
    [[nodiscard]] std::optional<uint64_t> profiled_ns() const noexcept;

    std::mutex mutex_;
    Device* device_ = nullptr;
    hal_event handle_ = nullptr;  // nullptr: closed
    uint32_t flags_ = 0;
    Point point_;
    std::shared_ptr<std::atomic<uint64_t>> time_ns_;  // of the record; a new one each time, the driver keeps the old
};

// Any live event, of whatever device. Throws INVALID_HANDLE.
[[nodiscard]] RecordedEvent& find_event(Instance& instance, hal_event event);

class Events : public shared::HandleTable<RecordedEvent, hal_event, 0xEC> {};

}  // namespace hal::opencl
