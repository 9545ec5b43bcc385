#include "glob.hpp"

#include <catch2/catch.hpp>

#include "nearest.hpp"
#include "text.hpp"

using namespace hal::loader;

TEST_CASE("patterns") {
    const auto [pattern, text, expected] = GENERATE(table<const char*, const char*, bool>({
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "cpu.ref", true},
        {"?", "", false},
        {"?", "a", true},
        {"?", "ab", false},
        {"cpu.*", "cpu.ref", true},
        {"cpu.*", "cpu", false},
        {"*.npu", "acme.npu", true},
        {"*.npu", "acme.npu.2", false},
        {"a*c*e", "abcde", true},
        {"a*c*e", "abcd", false},
        {"*ab", "aab", true},
        {"*aab", "aaab", true},
        {"a?c*", "abc", true},
        {"CPU.*", "cpu.ref", true},
        {"cpu.*", "CPU.REF", true},
        {"[ab]", "a", false},
        {"\\*", "*", false},
        {"gr\xc3\xbc?", "gr\xc3\xbcn", true},
        {"gr\xc3\x9c?", "gr\xc3\xbcn", false},
        {"**?**", "x", true},
        {"**?**", "", false},
    }));
    INFO(pattern << " against " << text);
    CHECK(glob_match(pattern, text) == expected);
}

TEST_CASE("patterns that make backtracking matchers explode end soon") {
    std::string pattern;
    for (int i = 0; i < 1000; ++i) {
        pattern += "a*";
    }
    CHECK_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
    CHECK(glob_match(pattern, std::string(2000, 'a')));
    CHECK(glob_match(std::string(1000, '*'), "x"));
}

TEST_CASE("nearest names") {
    const std::vector<std::string_view> known{"HAL_BACKEND_FILES", "HAL_ADD_BACKEND_FILES", "HAL_LOG", "HAL_LOG_FILE"};
    CHECK(nearest("HAL_BACKEND_FILE", known).front() == "HAL_BACKEND_FILES");
    CHECK(nearest("hal_backend_files", known).front() == "HAL_BACKEND_FILES");
    CHECK(nearest("HAL_LGO", known) == std::vector<std::string>{"HAL_LOG"});  // a swap is one edit
    CHECK(nearest("quite_different", known).empty());
    CHECK(nearest("", known).empty());
    CHECK(nearest(std::string(100000, 'H'), known).empty());
    CHECK(nearest("HAL_LOG", known, 0).empty());
    CHECK(nearest("ab", std::vector<std::string_view>{"xy"}).empty());
    CHECK(did_you_mean("HAL_BACKEND_FILE", known).find("; did you mean HAL_BACKEND_FILES") == 0);
    CHECK(did_you_mean("quite_different", known).empty());
}

TEST_CASE("lists") {
    CHECK(split("a::b:", ':') == std::vector<std::string_view>{"a", "", "b", ""});
    CHECK(split("", ':') == std::vector<std::string_view>{""});
    CHECK(list_elements(" a ,, b,", ',') == std::vector<std::string_view>{"a", "b"});
    CHECK(list_elements("", ',').empty());
}
