// One collective of the benchmark: which, how large, between how many. Buffers hold float, and sizes are those of
// nccl-tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hal::bench::xccl {

enum class Operation { all_reduce, broadcast, all_gather, reduce_scatter, alltoall };

[[nodiscard]] std::string_view name(Operation operation);
[[nodiscard]] std::optional<Operation> operation_named(std::string_view text);

struct Collective {
    Operation operation = Operation::all_reduce;
    uint64_t bytes = 0;  // of the larger buffer of a rank
    int ranks = 2;
    int hosts = 1;  // each with as many ranks

    bool operator==(const Collective&) const = default;

    // Elements in the two buffers of a rank, and in what one call is told. all_reduce and broadcast: all of them.
    [[nodiscard]] uint64_t send_count() const;
    [[nodiscard]] uint64_t receive_count() const;
    [[nodiscard]] uint64_t call_count() const;

    // Bytes that the slowest link must carry for a byte of the buffer: what makes operations and rank counts
    // comparable.
    [[nodiscard]] double bus_factor() const;
};

// "8B", "64KiB", "1MiB".
[[nodiscard]] std::string size_text(uint64_t bytes);

// "xccl/r2-all_reduce-64KiB", on two hosts "xccl/r2h2-...", and back. A row's name may go on behind it with "-" and what is special.
[[nodiscard]] std::string row_name(const Collective& collective, std::string_view special = {});
struct NamedCollective {
    Collective collective;
    std::string special;
};
[[nodiscard]] std::optional<NamedCollective> collective_of_row(std::string_view row_name);

}  // namespace hal::bench::xccl
