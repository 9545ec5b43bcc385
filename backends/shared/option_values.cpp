#include "option_values.hpp"

#include <charconv>
#include <string_view>

namespace hal::shared {
namespace {

constexpr uint64_t min_memory = 4096;
constexpr uint64_t max_memory = uint64_t{1} << 46;  // a user address space of 47 bits has room for it

// A number at the begin; `rest` gets what follows it. False if there is none, or it is too large.
template <class T>
bool parse_number(std::string_view text, T& number, std::string_view& rest) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    rest = text.substr(static_cast<size_t>(end - text.data()));
    return error == std::errc{};
}

uint32_t shift_of(std::string_view suffix) {
    constexpr std::string_view letters = "kmg";
    if (suffix.empty()) {
        return 0;
    }
    const size_t place = letters.find(static_cast<char>(suffix[0] | 0x20));
    return suffix.size() > 1 || place == std::string_view::npos ? UINT32_MAX : static_cast<uint32_t>(10 * (place + 1));
}

}  // namespace

void bad_option(const OptionSource& source, const char* key, const std::string& value, const std::string& allowed) {
    throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "option " + std::string(key) + " of " + source.backend + " is \"" +
                                                     value + "\"; allowed is " + allowed);
}

int32_t number_option(const OptionSource& source, const char* key, int32_t fallback, int32_t least, int32_t most) {
    const std::string value = sdk::option(source.host, key, std::to_string(fallback));
    int32_t number = 0;
    std::string_view rest;
    if (!parse_number(value, number, rest) || !rest.empty() || number < least || number > most) {
        bad_option(source, key, value, "a number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return number;
}

uint64_t memory_option(const OptionSource& source, const char* key, uint64_t fallback) {
    const std::string absent(1, '\0');  // which no option can be
    const std::string value = sdk::option(source.host, key, absent);
    if (value == absent) {
        return fallback;
    }
    uint64_t number = 0;
    std::string_view rest;
    const bool digits = parse_number(value, number, rest);
    const uint32_t shift = shift_of(rest);
    if (!digits || shift == UINT32_MAX || number > (max_memory >> shift) || (number << shift) < min_memory) {
        bad_option(source, key, value,
                   "bytes of each device, from 4k to 65536g, with or without a suffix k, m or g (powers of 1024)");
    }
    return number << shift;
}

}  // namespace hal::shared
