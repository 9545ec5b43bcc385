// What the cases of table 2 share.
#pragma once

#include "harness/test.hpp"

namespace hal::conformance {

inline constexpr uint64_t any_offset[] = {0, 1, 2, 3, 4, 7, 8, 16, 63};

// Sizes of allocations about every boundary that an allocator may have, and sizes that overflow when they are rounded
// up.
inline constexpr uint64_t allocation_sizes[] = {1,
                                                2,
                                                3,
                                                7,
                                                8,
                                                15,
                                                16,
                                                31,
                                                63,
                                                64,
                                                65,
                                                255,
                                                256,
                                                257,
                                                4095,
                                                4096,
                                                4097,
                                                65535,
                                                65537,
                                                1U << 20U,
                                                (1U << 20U) + 1,
                                                (16U << 20U) + 13};
inline constexpr uint64_t overflowing_sizes[] = {UINT64_MAX,        UINT64_MAX - 1,    UINT64_MAX - 63,
                                                 UINT64_MAX - 255,  UINT64_MAX - 4095, (uint64_t{1} << 63U) + 1,
                                                 uint64_t{1} << 62U};

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

// The two kinds of memory whose addresses are the host's, alike for the cases on them.
struct HostKind {
    std::function<hal_status(uint64_t size, void** out)> allocate;
    std::function<hal_status(void* ptr, uint64_t size)> release;
};
[[nodiscard]] HostKind host_kind(Test& t);
[[nodiscard]] HostKind unified_kind(Test& t);

// Allocate and release, without the copies of memory_io().
[[nodiscard]] const NeedGroup& blocks();

}  // namespace hal::conformance
