// The four asynchronous copies of table 2 in one form: both sides have `size` bytes, the destination is poisoned, the
// source has the pattern. The stream is one of device 0; p2p goes to device 1.
#pragma once

#include "harness/test.hpp"

namespace hal::conformance {

struct Copy {
    const char* name;
    bool host_source;
    bool host_target;
    bool across;  // to another device
};

inline constexpr Copy h2d{"h2d", true, false, false};
inline constexpr Copy d2h{"d2h", false, true, false};
inline constexpr Copy d2d{"d2d", false, false, false};
inline constexpr Copy p2p{"p2p", false, false, true};

struct Sides {
    HostBuffer* host = nullptr;
    DeviceBuffer* from = nullptr;
    DeviceBuffer* to = nullptr;
    Pattern pattern;
    uint64_t size = 0;
    hal_dev target_dev = 0;
};

[[nodiscard]] Sides prepare(Test& t, const Copy& copy, uint64_t size);
[[nodiscard]] hal_status start(Test& t, const Copy& copy, const Sides& s, hal_stream stream);
void expect_arrived(Test& t, const Copy& copy, const Sides& s, Where where = Where::here());
// Other data in the source, poison in the destination: the same copy again.
void renew(Test& t, const Copy& copy, Sides& s);

// Ways of knowing that work is complete: stream, event, device.
[[nodiscard]] const NeedGroup& three_ways();

}  // namespace hal::conformance
