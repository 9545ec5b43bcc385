// Events: each holds its most recent record, a point of a stream's timeline. Recording a plain event enqueues nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "hal/sdk.hpp"
#include "handles.hpp"
#include "record.hpp"
#include "shared_records.hpp"
#include "timeline.hpp"

namespace hal::cpu {

class Instance;
class Stream;

class Event {
  public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    // ---- Life; open and close alternate, closed at first ----

    // `shared`: of an event with HAL_EVENT_IPC, else nullptr.
    void open(hal_dev device, hal_event handle, uint32_t flags, std::shared_ptr<SharedRecords> shared) noexcept;
    void close() noexcept;

    // ---- Any thread; a closed or recycled event throws INVALID_HANDLE ----

    void record(hal_event handle, Stream& stream, hal_stream stream_handle);

    // The most recent record.
    [[nodiscard]] Record latest(hal_event handle);

    // The record and the time when it was reached; INVALID_ARGUMENT naming `role` for an event without either.
    struct Timed {
        Point point;
        bool reached;
        uint64_t time_ns;  // once it is reached
    };
    [[nodiscard]] Timed timed(hal_event handle, const char* role);

    // For export; INVALID_ARGUMENT without HAL_EVENT_IPC.
    [[nodiscard]] std::shared_ptr<SharedRecords> shared(hal_event handle);

    [[nodiscard]] hal_dev device() const noexcept { return device_; }

  private:
    void require_open(hal_event handle) const;
    void stamp(uint64_t version) noexcept;

    std::mutex mutex_;
    hal_event handle_ = nullptr;  // nullptr: closed
    hal_dev device_ = 0;
    uint32_t flags_ = 0;
    Point point_;
    uint64_t version_ = 0;  // of the record; grows over all lives of the slot, so a late stamp finds that it is late
    uint64_t time_ns_ = 0;
    std::shared_ptr<SharedRecords> shared_;
};

// A new event of the device. Throws OUT_OF_RESOURCES.
[[nodiscard]] hal_event add_event(Instance& instance, hal_dev device, uint32_t flags,
                                  std::shared_ptr<SharedRecords> shared);

// Any live event, of whatever device. Throws INVALID_HANDLE.
[[nodiscard]] Event& find_event(Instance& instance, hal_event event);
// The same, but it must be of the device (INVALID_DEVICE, INVALID_HANDLE).
[[nodiscard]] Event& find_event(Instance& instance, hal_dev device, hal_event event);

class Events : public shared::HandleTable<Event, hal_event, 0xE7> {};

}  // namespace hal::cpu
