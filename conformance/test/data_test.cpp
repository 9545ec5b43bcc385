#include "harness/data.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>

#include "harness/filter.hpp"

using namespace hal::conformance;

TEST_CASE("data differ everywhere: in the seed, the buffer and the place, and are never poison or zero") {
    constexpr uint64_t size = 4096;
    const Pattern pattern(1, 2);
    std::vector<uint8_t> bytes(size);
    pattern.write(bytes.data(), size);
    CHECK(std::count(bytes.begin(), bytes.end(), poison) == 0);
    CHECK(std::count(bytes.begin(), bytes.end(), 0) == 0);
    // Moved by any small distance hardly a byte stays what it was.
    for (const size_t shift : {1, 2, 4, 7, 8, 64, 256, 1024}) {
        size_t equal = 0;
        for (size_t i = 0; i + shift < size; ++i) {
            equal += bytes[i] == bytes[i + shift] ? 1 : 0;
        }
        CHECK(equal < (size - shift) / 64);
    }
    for (const Pattern& other : {Pattern(1, 3), Pattern(2, 2)}) {
        const auto difference = compare(bytes.data(), other, size);
        REQUIRE(difference);
        CHECK(difference->count > size - size / 64);
    }
    CHECK(std::set<uint8_t>(bytes.begin(), bytes.end()).size() == 254);
}

TEST_CASE("a pattern does not depend on where the writing began") {
    const Pattern pattern(5, 6);
    std::vector<uint8_t> bytes(100);
    pattern.write(bytes.data(), 37);
    pattern.write(bytes.data() + 37, 63, 37);
    CHECK(!compare(bytes.data(), pattern, 100));
    CHECK(!compare(bytes.data() + 41, pattern, 59, 41));
}

TEST_CASE("comparing looks at every byte") {
    const Pattern pattern(1, 1);
    std::vector<uint8_t> bytes(1001);
    pattern.write(bytes.data(), bytes.size());
    CHECK(!compare(bytes.data(), pattern, bytes.size()));
    for (const size_t at : {size_t{0}, size_t{500}, size_t{1000}}) {
        bytes[at] ^= 1U;
        const auto difference = compare(bytes.data(), pattern, bytes.size());
        REQUIRE(difference);
        CHECK(difference->first == at);
        CHECK(difference->count == 1);
        CHECK(difference->got == bytes[at]);
        bytes[at] ^= 1U;
    }
    CHECK(compare(bytes.data(), uint8_t{7}, 3).has_value());
}

TEST_CASE("a host buffer knows when its surroundings were touched") {
    const HostBuffer buffer(100);
    CHECK(!compare(buffer.data(), poison, 100));
    CHECK(buffer.guards_intact());
    for (const ptrdiff_t at : {-1, -64, 100, 163}) {
        uint8_t& byte = buffer.data()[at];
        byte ^= 1U;
        CHECK(!buffer.guards_intact());
        byte ^= 1U;
        CHECK(buffer.guards_intact());
    }
}

#ifndef __SANITIZE_THREAD__
TEST_CASE("beyond the end of a page lies nothing") {
    const PageEnd page(100);
    std::memset(page.at_end(), 1, 100);
    const auto dies = [](volatile uint8_t* address) {
        const pid_t pid = fork();
        if (pid == 0) {
            signal(SIGSEGV, SIG_DFL);
            *address = 1;
            _exit(0);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
    };
    CHECK(dies(page.at_end() + 100));
    CHECK(dies(page.at_begin() - 1));
    CHECK(!dies(page.at_end() + 99));
    page.make_read_only();
    CHECK(dies(page.at_end()));
}
#endif

TEST_CASE("filters: stars, question marks, and brackets that are themselves") {
    CHECK(matches("*", ""));
    CHECK(matches("45079.T4.*", "45079.T4.record_event.order.not_early"));
    CHECK(matches("*.order.*", "45079.T4.record_event.order.not_early"));
    CHECK(matches("a?c", "abc"));
    CHECK(matches("a.b[x=1]", "a.b[x=1]"));
    CHECK(matches("*[src=d2h]", "45079.T4.record_event.order.after_prior_work[src=d2h]"));
    CHECK_FALSE(matches("45079.T4.*", "45079.T3.create_stream.norm.usable"));
    CHECK_FALSE(matches("a", "ab"));
    CHECK_FALSE(matches("a?", "a"));
    CHECK_FALSE(matches("a*b*c", "acb"));
    CHECK_FALSE(matches("", "a"));
}

TEST_CASE("the nearest ids come first") {
    const std::vector<std::string> ids{"a.record_event.x", "a.create_event.y", "a.destroy_stream.z"};
    const auto near = nearest("*recrod_event*", ids, 2);
    REQUIRE(near.size() == 2);
    CHECK(near[0] == "a.record_event.x");
    CHECK(nearest("x", {}, 3).empty());
}
