// The ABI lock allows appending and nothing else, and leaves out no public struct.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "check_lock.hpp"
#include "print.hpp"
#include "structs.hpp"

using hal::tool::broken_lines;

namespace {
// `text` with its one occurrence of `from` replaced.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    REQUIRE(text.find(from, at + 1) == std::string::npos);
    return text.replace(at, from.size(), to);
}

const std::string count_line = "table 1.1 row 8 get_device_count(int32_t* out_count)\n";
const std::string sync_line = "table 1.1 row 7 synchronize_device(hal_dev device, uint64_t timeout_ns)\n";
}  // namespace

TEST_CASE("a lock is kept by the headers that printed it", "[lock]") {
    const std::string now = hal::tool::lock();
    CHECK(broken_lines(now, now, "abi.lock").empty());
    CHECK(now.find(count_line) != std::string::npos);
    CHECK(now.find("struct hal_tensor offset 20 dtype 4 bytes\n") != std::string::npos);
    CHECK(now.find("status -4 HAL_ERROR_UNSUPPORTED\n") != std::string::npos);
    CHECK(now.find("state 21 READY\n") != std::string::npos);
}

// An old lock that lacks the last lines of its groups: the headers have appended them since.
TEST_CASE("appended lines and new groups are allowed", "[lock]") {
    const std::string now = hal::tool::lock();
    CHECK(broken_lines(replaced(now, "table 1.1 row 14 deinit_device(hal_dev device)\n", ""), now, "abi.lock").empty());
    CHECK(
        broken_lines(replaced(now, "struct hal_event_desc offset 20 reserved 4 bytes\n", ""), now, "abi.lock").empty());
    CHECK(broken_lines(replaced(now, "state 24 OPENING\n", ""), now, "abi.lock").empty());
    CHECK(broken_lines(now.substr(0, now.find("\ntable 110")), now, "abi.lock").empty());
}

TEST_CASE("a removed line is refused", "[lock]") {
    const std::string lock = hal::tool::lock();
    // In the middle: everything behind it moves. At the end: only it is gone.
    auto broken = broken_lines(lock, replaced(lock, count_line, ""), "abi.lock");
    REQUIRE_FALSE(broken.empty());
    CHECK_THAT(broken.front(), Catch::Contains("get_device_count") && Catch::Contains("was removed or renamed"));
    broken = broken_lines(lock, replaced(lock, "state 24 OPENING\n", ""), "abi.lock");
    REQUIRE(broken.size() == 1);
    CHECK_THAT(broken.front(), Catch::Contains("`state 24 OPENING` was removed"));
    // A whole group.
    CHECK_FALSE(broken_lines(lock, lock.substr(0, lock.find("\ntable 110")), "abi.lock").empty());
}

TEST_CASE("a changed signature is refused with its line", "[lock]") {
    const std::string lock = hal::tool::lock();
    const std::string changed = "table 1.1 row 8 get_device_count(int64_t* out_count)\n";
    const auto broken = broken_lines(lock, replaced(lock, count_line, changed), "abi.lock");
    REQUIRE(broken.size() == 1);
    const auto line =
        std::count(lock.begin(), lock.begin() + static_cast<std::ptrdiff_t>(lock.find(count_line)), '\n') + 1;
    CHECK_THAT(broken.front(), Catch::StartsWith("abi.lock:" + std::to_string(line) + ": ") &&
                                   Catch::Contains("`table 1.1 row 8 get_device_count(int64_t* out_count)` now") &&
                                   Catch::Contains("signature, value or size changed"));
}

TEST_CASE("reordered entries are refused", "[lock]") {
    const std::string lock = hal::tool::lock();
    const std::string swapped =
        "table 1.1 row 7 get_device_count(int32_t* out_count)\n"
        "table 1.1 row 8 synchronize_device(hal_dev device, uint64_t timeout_ns)\n";
    const auto broken = broken_lines(lock, replaced(lock, sync_line + count_line, swapped), "abi.lock");
    REQUIRE(broken.size() == 2);
    CHECK_THAT(broken.front(), Catch::Contains("synchronize_device") && Catch::Contains("has moved to"));
}

TEST_CASE("an entry inserted before the end is refused", "[lock]") {
    const std::string lock = hal::tool::lock();
    CHECK_FALSE(broken_lines(lock,
                             replaced(lock, count_line, "table 1.1 row 8 reset_device(hal_dev device)\n" + count_line),
                             "abi.lock")
                    .empty());
}

TEST_CASE("structs: sizes and offsets are kept, closed ones do not grow", "[lock]") {
    const std::string lock = hal::tool::lock();
    const std::string field = "struct hal_tensor offset 20 dtype 4 bytes\n";
    CHECK(broken_lines(lock, replaced(lock, field, "struct hal_tensor offset 20 dtype 8 bytes\n"), "abi.lock").size() ==
          1);
    const std::string closed = "struct hal_shape is closed, 72 bytes\n";
    CHECK(broken_lines(lock, replaced(lock, closed, "struct hal_shape is closed, 80 bytes\n"), "abi.lock").size() == 1);
    CHECK(broken_lines(lock, replaced(lock, "status -4 HAL_ERROR_UNSUPPORTED\n", "status -40 HAL_ERROR_UNSUPPORTED\n"),
                       "abi.lock")
              .size() == 1);
}

TEST_CASE("every public struct of the headers is in the lock", "[lock]") {
    std::set<std::string> locked;
    for (const auto& info : hal::tool::structs) {
        locked.emplace(info.name);
    }
    const std::regex definition("typedef struct (hal_[a-z0-9_]+) \\{");
    std::set<std::string> defined;
    for (const auto& file : std::filesystem::directory_iterator(HAL_HEADER_DIR)) {
        std::ifstream stream(file.path());
        std::stringstream text;
        text << stream.rdbuf();
        const std::string content = text.str();
        for (std::sregex_iterator match(content.begin(), content.end(), definition), end; match != end; ++match) {
            defined.insert((*match)[1]);
        }
    }
    CHECK(defined == locked);
}
