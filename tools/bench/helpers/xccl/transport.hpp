// What a library of collectives must be able to do to be measured: one rank of it.
#pragma once

#include <cstdint>
#include <span>

#include "xccl/collective.hpp"

namespace hal::bench::xccl {

class Transport {
  public:
    Transport() = default;
    virtual ~Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    // Buffers for this collective; what they hold is lost. A broadcast uses the receive buffer alone, on the root too.
    virtual void reserve(const Collective& collective) = 0;
    virtual void write_send(uint64_t first, std::span<const float> data) = 0;
    virtual void write_receive(uint64_t first, std::span<const float> data) = 0;
    virtual void read_receive(uint64_t first, std::span<float> data) = 0;

    virtual void barrier() = 0;

    // The loop that is timed; at its end the result is there. wait_each: wait for each call before the next.
    virtual void run(const Collective& collective, uint64_t iterations, bool wait_each) = 0;
};

}  // namespace hal::bench::xccl
