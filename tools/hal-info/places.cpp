// Where the loader looked, and what the environment told it.
#include <algorithm>

#include "info.hpp"

namespace hal::tool {

std::string_view use_name(uint32_t use) {
    switch (use) {
        case HAL_VARIABLE_USED:
            return "used";
        case HAL_VARIABLE_IGNORED:
            return "ignored";
        case HAL_VARIABLE_UNKNOWN:
            return "unknown";
        default:
            return "unset";
    }
}

int print_search(Loader& loader) {
    fmt::print("rank  used  place\n");
    for (const auto& place : required(loader.search())) {
        fmt::print("{:>4}  {:<4}  {}\n            {}{}{}\n", place.rank, place.used != 0 ? "yes" : "no", place.path,
                   place.origin, *place.note == '\0' ? "" : ": ", place.note);
    }
    return exit_ok;
}

int print_environment(Loader& loader) {
    const auto variables = required(loader.variables());
    size_t width = 0;
    for (const auto& variable : variables) {
        width = std::max(width, std::string_view(variable.name).size());
    }
    for (const auto& variable : variables) {
        const bool set = variable.use != HAL_VARIABLE_UNSET;
        fmt::print("{:<{}}  {:<7}  {}{}{}\n", variable.name, width, use_name(variable.use), set ? variable.value : "",
                   set && *variable.note != '\0' ? "  # " : "", variable.note);
    }
    return exit_ok;
}

}  // namespace hal::tool
