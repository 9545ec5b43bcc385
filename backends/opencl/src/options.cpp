#include "options.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "api.hpp"

namespace hal::opencl {
namespace {

[[noreturn]] void bad_option(const char* key, const std::string& value, const std::string& allowed) {
    throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                     "option " + std::string(key) + " of opencl is \"" + value + "\"; allowed is " + allowed);
}

template <class T>
T choice(const hal_host* host, const char* key, std::initializer_list<std::pair<std::string_view, T>> choices) {
    const std::string value = sdk::option(host, key, std::string(choices.begin()->first));
    std::string allowed;
    for (const auto& [name, meaning] : choices) {
        if (value == name) {
            return meaning;
        }
        allowed += (allowed.empty() ? "" : ", ") + std::string(name);
    }
    bad_option(key, value, allowed);
}

int32_t number(const hal_host* host, const char* key, int32_t fallback, int32_t least, int32_t most) {
    const std::string value = sdk::option(host, key, std::to_string(fallback));
    int32_t parsed = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc{} || end != value.data() + value.size() || parsed < least || parsed > most) {
        bad_option(key, value, "a number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return parsed;
}

uint64_t memory_bytes(const hal_host* host) {
    const std::string value = sdk::option(host, "memory", "0");
    uint64_t parsed = 0;
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, parsed);
    constexpr std::string_view letters = "kmg";
    const size_t place = rest + 1 == end ? letters.find(static_cast<char>(*rest | 0x20)) : std::string_view::npos;
    const auto shift = rest == end ? 0 : 10 * (place + 1);
    if (error != std::errc{} || (rest != end && place == std::string_view::npos) ||
        parsed > (uint64_t{1} << 46U) >> shift || (value != "0" && parsed << shift < 4096)) {
        bad_option("memory", value,
                   "bytes of each device, from 4k to 65536g, with or without a suffix k, m or g (powers of 1024), or 0 "
                   "for what the device has");
    }
    return parsed << shift;
}

}  // namespace

Options read_options(const hal_host* host) {
    Options options;
    options.type = choice<uint64_t>(host, "type",
                                    {{"all", 0},
                                     {"cpu", CL_DEVICE_TYPE_CPU},
                                     {"gpu", CL_DEVICE_TYPE_GPU},
                                     {"accelerator", CL_DEVICE_TYPE_ACCELERATOR}});
    options.platform = sdk::option(host, "platform", "");
    options.index = number(host, "index", -1, -1, 63);
    options.repeat = number(host, "repeat", 1, 1, 8);
    options.memory_bytes = memory_bytes(host);
    options.memory_mode =
        choice<MemoryMode>(host, "memory_mode",
                           {{"auto", MemoryMode::automatic}, {"svm", MemoryMode::svm}, {"buffer", MemoryMode::buffer}});
    return options;
}

}  // namespace hal::opencl
