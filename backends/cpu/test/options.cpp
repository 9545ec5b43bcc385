// Options: what is taken, and the text that refuses the rest.
#include <catch2/catch.hpp>

#include "test_host.hpp"

namespace hal::cpu {
namespace {

Options read(const char* key, const char* value) {
    const test::Host host(test::Host::Options{{key, value}});
    return read_options(host.get());
}

TEST_CASE("options have defaults") {
    const test::Host host;
    const Options options = read_options(host.get());
    CHECK(options.devices == 1);
    CHECK(options.memory_bytes > (uint64_t{1} << 20));
    CHECK(read("devices", "4").memory_bytes == options.memory_bytes / 4);
}

TEST_CASE("good options") {
    CHECK(read("devices", "64").devices == 64);
    CHECK(read("memory", "4096").memory_bytes == 4096);
    CHECK(read("memory", "64k").memory_bytes == 65536);
    CHECK(read("memory", "3M").memory_bytes == 3 << 20);
    CHECK(read("memory", "65536g").memory_bytes == uint64_t{1} << 46);
}

TEST_CASE("bad options name the option, the value and what is allowed") {
    const auto refused = [](const char* key, const std::string& value) {
        std::string text;
        CHECK(test::status_of([&] { static_cast<void>(read(key, value.c_str())); }, &text) ==
              HAL_ERROR_INVALID_ARGUMENT);
        CHECK_THAT(text, Catch::Contains(std::string("option ") + key) && Catch::Contains("\"" + value + "\"") &&
                             Catch::Contains("allowed is"));
    };
    for (const char* value : {"", "0", "65", "-1", "1.5", "two", "1 ", "99999999999999999999"}) {
        refused("devices", value);
    }
    for (const char* value : {"", "0", "4095", "1t", "1kk", "k", "-1m", "65537g", "18446744073709551615g", "1 m"}) {
        refused("memory", value);
    }
    refused("memory", std::string(1000, '9'));
}

}  // namespace
}  // namespace hal::cpu
