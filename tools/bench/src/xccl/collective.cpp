#include "xccl/collective.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace hal::bench::xccl {
namespace {

constexpr std::array<std::pair<Operation, std::string_view>, 5> names{{
    {Operation::all_reduce, "all_reduce"},
    {Operation::broadcast, "broadcast"},
    {Operation::all_gather, "all_gather"},
    {Operation::reduce_scatter, "reduce_scatter"},
    {Operation::alltoall, "alltoall"},
}};

constexpr std::array<std::pair<uint64_t, std::string_view>, 3> units{{{1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}};

// A number at the front of the text, which is then shortened by it.
std::optional<uint64_t> take_number(std::string_view& text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return value;
}

bool take(std::string_view& text, std::string_view front) {
    if (!text.starts_with(front)) {
        return false;
    }
    text.remove_prefix(front.size());
    return true;
}

std::optional<uint64_t> take_size(std::string_view& text) {
    const auto number = take_number(text);
    for (const auto& [unit, unit_name] : units) {
        if (number && take(text, unit_name)) {
            return *number * unit;
        }
    }
    return std::nullopt;
}

}  // namespace

std::string_view name(Operation operation) {
    for (const auto& [value, text] : names) {
        if (value == operation) {
            return text;
        }
    }
    return "unknown";
}

std::optional<Operation> operation_named(std::string_view text) {
    for (const auto& [value, value_name] : names) {
        if (value_name == text) {
            return value;
        }
    }
    return std::nullopt;
}

uint64_t Collective::send_count() const {
    return operation == Operation::all_gather ? call_count() : bytes / sizeof(float);
}

uint64_t Collective::receive_count() const {
    return operation == Operation::reduce_scatter ? call_count() : bytes / sizeof(float);
}

uint64_t Collective::call_count() const {
    const bool whole = operation == Operation::all_reduce || operation == Operation::broadcast;
    return bytes / sizeof(float) / (whole ? 1 : static_cast<uint64_t>(ranks));
}

double Collective::bus_factor() const {
    const double n = ranks;
    switch (operation) {
        case Operation::all_reduce:
            return 2 * (n - 1) / n;
        case Operation::broadcast:
            return 1;
        case Operation::all_gather:
        case Operation::reduce_scatter:
        case Operation::alltoall:
            return (n - 1) / n;
    }
    return 1;
}

std::string size_text(uint64_t bytes) {
    for (const auto& [unit, unit_name] : units) {
        if (bytes >= unit) {
            return fmt::format("{}{}", bytes / unit, unit_name);
        }
    }
    return "0B";
}

std::string row_name(const Collective& collective, std::string_view special) {
    const std::string hosts = collective.hosts == 1 ? "" : fmt::format("h{}", collective.hosts);
    return fmt::format("xccl/r{}{}-{}-{}{}{}", collective.ranks, hosts, name(collective.operation),
                       size_text(collective.bytes), special.empty() ? "" : "-", special);
}

std::optional<NamedCollective> collective_of_row(std::string_view row_name) {
    if (!take(row_name, "xccl/r")) {
        return std::nullopt;
    }
    const auto ranks = take_number(row_name);
    const auto hosts = ranks && take(row_name, "h") ? take_number(row_name) : 1;
    const size_t dash = ranks && hosts && take(row_name, "-") ? row_name.find('-') : std::string_view::npos;
    if (dash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto operation = operation_named(row_name.substr(0, dash));
    row_name.remove_prefix(dash + 1);
    const auto bytes = take_size(row_name);
    if (!operation || !bytes || (!row_name.empty() && !take(row_name, "-"))) {
        return std::nullopt;
    }
    return NamedCollective{{*operation, *bytes, static_cast<int>(*ranks), static_cast<int>(*hosts)},
                           std::string(row_name)};
}

}  // namespace hal::bench::xccl
