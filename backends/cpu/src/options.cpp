#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

#include "instance.hpp"

namespace hal::cpu {
namespace {

constexpr int32_t max_devices = 64;
constexpr uint64_t min_memory = 4096;
constexpr uint64_t max_memory = uint64_t{1} << 46;  // a user address space of 47 bits has room for it

[[noreturn]] void bad_option(const char* key, const std::string& value, const std::string& allowed) {
    throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                     "option " + std::string(key) + " of cpu.ref is \"" + value + "\"; allowed is " + allowed);
}

// Digits alone; `rest` gets what follows them. False if there are none, or too many.
bool parse_number(std::string_view text, uint64_t& number, std::string_view& rest) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    rest = text.substr(static_cast<size_t>(end - text.data()));
    return error == std::errc{};
}

int32_t parse_devices(const std::string& value) {
    uint64_t number = 0;
    std::string_view rest;
    if (!parse_number(value, number, rest) || !rest.empty() || number < 1 || number > max_devices) {
        bad_option("devices", value, "a number from 1 to " + std::to_string(max_devices));
    }
    return static_cast<int32_t>(number);
}

uint32_t shift_of(std::string_view suffix) {
    constexpr std::string_view letters = "kmg";
    if (suffix.empty()) {
        return 0;
    }
    const size_t place = letters.find(static_cast<char>(suffix[0] | 0x20));
    return suffix.size() > 1 || place == std::string_view::npos ? UINT32_MAX : static_cast<uint32_t>(10 * (place + 1));
}

uint64_t parse_memory(const std::string& value) {
    uint64_t number = 0;
    std::string_view rest;
    const bool digits = parse_number(value, number, rest);
    const uint32_t shift = shift_of(rest);
    if (!digits || shift == UINT32_MAX || number > (max_memory >> shift) || (number << shift) < min_memory) {
        bad_option("memory", value,
                   "bytes of each device, from 4k to 65536g, with or without a suffix k, m or g (powers of 1024)");
    }
    return number << shift;
}

uint64_t default_memory(int32_t devices) {
    const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
    const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return pages * page_bytes / 2 / static_cast<uint64_t>(devices);
}

}  // namespace

Options read_options(const hal_host* host) {
    Options options;
    options.devices = parse_devices(sdk::option(host, "devices", "1"));
    options.memory_bytes = parse_memory(sdk::option(host, "memory", std::to_string(default_memory(options.devices))));
    return options;
}

}  // namespace hal::cpu
