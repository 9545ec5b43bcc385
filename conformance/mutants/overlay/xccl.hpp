// What the mutants of collectives share: where a communicator is, and memory for a moment of its stream.
#pragma once

#include "overlay.hpp"

namespace hal::mutants {

struct Place {
    hal_dev device = 0;
    int32_t rank = 0;
    int32_t ranks = 1;
};
// Remembers the device of each communicator; for mutants that ask place_of.
void with_places(Plugin& plugin);
[[nodiscard]] Place place_of(hal_instance* self, hal_comm comm);

// Of one element; 0 of what is no type.
[[nodiscard]] uint64_t bytes_of(hal_dtype type);

// From here on until what was enqueued before its end is done.
class Scratch {
  public:
    Scratch(hal_instance* self, hal_dev device, hal_stream stream, uint64_t size_bytes);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] hal_dptr ptr() const { return ptr_; }

  private:
    hal_instance* self_;
    hal_dev device_;
    hal_stream stream_;
    hal_dptr ptr_ = 0;
};

}  // namespace hal::mutants
