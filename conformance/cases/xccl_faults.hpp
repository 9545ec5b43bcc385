// What the cases of table 10 share that make communicators with ranks that never come.
#pragma once

#include "xccl.hpp"

namespace hal::conformance {

// How long a peer may be silent; the option reaches who makes a communicator.
inline constexpr auto patience = std::chrono::milliseconds(2'000);

// Another instance, whose host says how long to wait for ranks that do not come. A back end that knows no such option
// takes its own time.
struct Impatient {
    explicit Impatient(Test& t) : target(t.target), backend((set_option(target), target)) {
        t.ok(backend.initialize());
    }
    static void set_option(Target& target) { target.options["xccl_timeout_ms"] = std::to_string(patience.count()); }
    Target target;
    Backend backend;
};

inline hal_status init(const Api& api, hal_dev dev, int ranks, const std::string& id, int rank, hal_comm* comm) {
    return api.xccl_comm_init_rank(dev, ranks, id.data(), id.size(), rank, comm);
}

}  // namespace hal::conformance
