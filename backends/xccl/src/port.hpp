// What the engine needs of the back end that links it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hal/types.h"
#include "mapping.hpp"

namespace hal::xccl {

class Batch;
class Communicator;
class StagingMemory;

// What a stream runs: in its order, and always, also when the stream has failed or is being ended, which it is told. A
// lone collective lies in it whole, so that issuing one allocates nothing; all else is a batch. Run it exactly once.
class Work {
  public:
    struct Lone {
        Communicator* communicator;
        uint64_t turn;
        uint64_t count;
        std::byte* send;
        std::byte* recv;
        hal_dtype dtype;
        int16_t root;
        uint8_t kind;
        uint8_t op;
    };

    explicit Work(const Lone& lone) noexcept : lone_(lone) {}
    Work(Batch& batch, bool leads) noexcept : batch_{nullptr, &batch, leads} {}
    // Throws sdk::Error, which makes the stream fail.
    hal_status operator()(hal_status stream_status) const;

  private:
    struct OfBatch {
        Communicator* none;
        Batch* batch;
        bool leads;
    };
    union {
        Lone lone_;
        OfBatch batch_;  // both begin with a pointer that tells which it is
    };
};
static_assert(sizeof(Work) == 48);

// A copy under way. Its end waits too.
class Copy {
  public:
    Copy() = default;
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    virtual ~Copy() = default;
    // Until it is done. Throws what it failed with.
    virtual void wait() = 0;
};

// All throw sdk::Error as the entries of the back end do.
class Port {
  public:
    Port() = default;
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    virtual ~Port() = default;

    // What the other ranks map: the device's memory, or the staging memory that stands for it. Throws INVALID_DEVICE.
    [[nodiscard]] virtual Arena arena(hal_dev device) = 0;
    // Throws INVALID_ARGUMENT unless the range lies in memory that the device may use; `what` it is.
    virtual void require_memory(hal_dev device, hal_dptr address, uint64_t bytes, const char* what) = 0;
    // Throws INVALID_HANDLE.
    virtual void require_stream(hal_dev device, hal_stream stream) = 0;
    // Throws what enqueuing throws; nothing is enqueued then.
    virtual void enqueue(hal_dev device, hal_stream stream, const Work& work) = 0;
    // nullptr: the host reaches device memory by its address, and the functions below are not called. Else the work
    // of a stream moves data between device memory and this with copy_in and copy_out. They begin a copy; copies may
    // run in any order, and beside each other.
    [[nodiscard]] virtual StagingMemory* staging(hal_dev) { return nullptr; }
    // Does the device move data without the host's cores? Then copies go on while a collective runs; else that would
    // only take cores from it.
    [[nodiscard]] virtual bool copies_by_itself(hal_dev) { return false; }
    [[nodiscard]] virtual std::unique_ptr<Copy> copy_in(hal_dev, std::byte* /*to*/, hal_dptr /*from*/,
                                                        uint64_t /*bytes*/) {
        return nullptr;
    }
    [[nodiscard]] virtual std::unique_ptr<Copy> copy_out(hal_dev, hal_dptr /*to*/, const std::byte* /*from*/,
                                                         uint64_t /*bytes*/) {
        return nullptr;
    }

    // Throws REENTRANT naming the entry on a thread that runs the work of a stream.
    virtual void refuse_on_stream(const char* entry) const = 0;
};

}  // namespace hal::xccl
