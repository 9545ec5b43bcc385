// Versions as drivers spell them.
#include "device_answers.hpp"

#include <catch2/catch.hpp>

namespace hal::shared {

TEST_CASE("a version is the first number of the text and those behind its dots") {
    const auto is = [](const char* text, uint32_t major, uint32_t minor, uint32_t patch) {
        const hal_version version = parse_version(text);
        return version.major == major && version.minor == minor && version.patch == patch;
    };
    CHECK(is("6.1.0-13-amd64", 6, 1, 0));
    CHECK(is("OpenCL 3.0 PoCL 1.8", 3, 0, 0));
    CHECK(is("3.1+debian", 3, 1, 0));
    CHECK(is("535.183.01", 535, 183, 1));
    CHECK(is("none", 0, 0, 0));
    CHECK(is("", 0, 0, 0));
    CHECK(parse_version(std::string(1000, '9')).text[sizeof hal_version::text - 1] == '\0');
}

TEST_CASE("a list that is too short is written as far as it goes, and says so") {
    hal_dev devices[] = {-7, -7, -7};
    uint32_t count = 0;
    CHECK(list_devices(3, devices, 2, &count) == HAL_INCOMPLETE);
    CHECK(count == 3);
    CHECK((devices[0] == 0 && devices[1] == 1 && devices[2] == -7));
    CHECK(list_devices(3, devices, 3, &count) == HAL_OK);
    CHECK(devices[2] == 2);
    CHECK(list_devices(3, nullptr, 0, &count) == HAL_INCOMPLETE);
}

}  // namespace hal::shared
