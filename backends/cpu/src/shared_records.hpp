// The records of an event that several processes share (HAL_EVENT_IPC), in a page of their own that each process maps.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "hal/memory.h"
#include "hal/types.h"
#include "waiting.hpp"

namespace hal::cpu {

// Records are numbered from 1. Any process may record, query and wait; a wait is bound to the newest record at its
// time. Nothing read from the page is trusted: a process that writes nonsense makes waits end early or late, no more.
class SharedRecords {
  public:
    // Throws sdk::Error OUT_OF_RESOURCES.
    [[nodiscard]] static std::shared_ptr<SharedRecords> create();
    // Throws INVALID_ARGUMENT for bytes that are no handle of an event, NOT_FOUND if its process or event is gone.
    [[nodiscard]] static std::shared_ptr<SharedRecords> open(const hal_ipc_handle& handle);
    [[nodiscard]] hal_ipc_handle handle() const noexcept;

    SharedRecords(const SharedRecords&) = delete;
    SharedRecords& operator=(const SharedRecords&) = delete;
    ~SharedRecords();

    // Begins a record and returns its number; complete() it once. Throws BUSY if too many are pending.
    [[nodiscard]] uint64_t begin();
    void complete(uint64_t number, hal_status status) noexcept;

    // Of the newest record; 0 if there is none yet.
    [[nodiscard]] uint64_t latest() const noexcept;
    [[nodiscard]] bool reached(uint64_t number) const noexcept;
    // Of a record that was reached.
    [[nodiscard]] hal_status outcome(uint64_t number) const noexcept;
    // HAL_OK, TIMEOUT, REMOTE if the process that recorded died, CANCELLED once give_up() says so.
    [[nodiscard]] hal_status wait_until(uint64_t number, Deadline deadline,
                                        const std::function<bool()>& give_up) noexcept;

  private:
    struct Page;
    SharedRecords(int file, Page* page) noexcept : file_(file), page_(page) {}

    int file_;
    Page* page_;
};

}  // namespace hal::cpu
