// What the cases of table 2 share.
#pragma once

#include "harness/test.hpp"

namespace hal::conformance {

inline constexpr uint64_t any_offset[] = {0, 1, 2, 3, 4, 7, 8, 16, 63};

// Bytes of device memory read by memory_copy_d2h and, where the host can, by the host itself: a fault that undoes
// itself in a round trip shows there.
struct ReadBack {
    ReadBack(Test& t, hal_dev dev, hal_dptr ptr, uint64_t size, Where where = Where::here());
    // One check: equal to the expected bytes on every path.
    bool expect(Test& t, const uint8_t* expected, std::string_view what, Where where = Where::here()) const;
    HostBuffer copied;
    const uint8_t* direct = nullptr;
};

// A buffer of which [offset, offset + size) should hold the pattern from its byte `first` on, and the rest the poison.
void expect_window(Test& t, const DeviceBuffer& buffer, uint64_t offset, uint64_t size, const Pattern& pattern,
                   uint64_t first = 0, Where where = Where::here());

[[nodiscard]] hal_memory_stats stats_of(Test& t, hal_dev dev = 0, Where where = Where::here());

// Allocate and release, without the copies of memory_io().
[[nodiscard]] const NeedGroup& blocks();

}  // namespace hal::conformance
