// Meeting: who is let in, who is told what, and that strangers do no harm.
#include "rendezvous.hpp"

#include <arpa/inet.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "hal/sdk.hpp"

using Catch::Matchers::Contains;

namespace hal::xccl {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;

Introduction named(const std::string& name) {
    Introduction self;
    std::strncpy(self.socket.data(), name.c_str(), self.socket.size() - 1);
    return self;
}

struct Outcome {
    hal_status status = HAL_OK;
    std::string text;
    std::vector<Introduction> all;
};
Outcome try_meet(const UniqueId& id, int32_t rank, int32_t size, uint64_t timeout_ns = 20 * second_ns) {
    Outcome outcome;
    try {
        outcome.all = meet(id, rank, size, named("rank " + std::to_string(rank)), Deadline::after(timeout_ns));
    } catch (const sdk::Error& error) {
        outcome.status = error.status();
        outcome.text = error.what();
    }
    return outcome;
}

File connect_to(const UniqueId& id) {
    return connect_tcp(address_of(id), Deadline::after(second_ns), "a test");
}

TEST_CASE("all ranks are told of all, in the order of the ranks") {
    Rendezvous rendezvous("127.0.0.1");
    const UniqueId id = rendezvous.make_id();
    constexpr int32_t size = 5;
    std::vector<Outcome> outcomes(size);
    std::vector<std::thread> threads;
    for (int32_t rank = size; rank-- > 0;) {
        threads.emplace_back([&, rank] { outcomes[static_cast<size_t>(rank)] = try_meet(id, rank, size); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const Outcome& outcome : outcomes) {
        REQUIRE(outcome.status == HAL_OK);
        for (int32_t rank = 0; rank < size; ++rank) {
            CHECK(outcome.all[static_cast<size_t>(rank)].socket.data() == "rank " + std::to_string(rank));
        }
    }
    // An id makes one communicator.
    const Outcome again = try_meet(id, 0, 1);
    CHECK(again.status == HAL_ERROR_INVALID_ARGUMENT);
    CHECK_THAT(again.text, Contains("one communicator"));
}

TEST_CASE("many ids share one listener and do not meet each other") {
    Rendezvous rendezvous("127.0.0.1");
    const UniqueId a = rendezvous.make_id();
    const UniqueId b = rendezvous.make_id();
    CHECK(a.port == b.port);
    CHECK_FALSE(same_secret(a.secret, b.secret));
    Outcome first;
    std::thread waits([&] { first = try_meet(a, 0, 2); });
    CHECK(try_meet(b, 0, 1).status == HAL_OK);
    CHECK(try_meet(a, 1, 2).status == HAL_OK);
    waits.join();
    CHECK(first.status == HAL_OK);
}

TEST_CASE("a rank that does not fit is told why, and the others still meet") {
    Rendezvous rendezvous("127.0.0.1");
    const UniqueId id = rendezvous.make_id();
    Outcome first;
    std::thread waits([&] { first = try_meet(id, 0, 2); });
    // Rank 0 twice: which of the two comes first is open.
    const Outcome second = try_meet(id, 0, 2, second_ns / 2);
    CHECK((second.status == HAL_ERROR_INVALID_ARGUMENT || second.status == HAL_ERROR_TIMEOUT));
    const Outcome other = try_meet(id, 1, 3);
    CHECK(other.status == HAL_ERROR_INVALID_ARGUMENT);
    if (second.status == HAL_ERROR_INVALID_ARGUMENT) {
        CHECK_THAT(second.text, Contains("there already"));
        CHECK_THAT(other.text, Contains("another number of ranks"));
        CHECK(try_meet(id, 1, 2).status == HAL_OK);
    }
    waits.join();
    CHECK((first.status == HAL_OK) == (second.status == HAL_ERROR_INVALID_ARGUMENT));
}

TEST_CASE("a rank that leaves is told to the others at once") {
    Rendezvous rendezvous("127.0.0.1");
    const UniqueId id = rendezvous.make_id();
    Outcome first;
    std::thread waits([&] { first = try_meet(id, 0, 3, 60 * second_ns); });
    CHECK(try_meet(id, 1, 3, second_ns / 2).status == HAL_ERROR_TIMEOUT);  // it gives up, and its socket closes
    waits.join();
    CHECK(first.status == HAL_ERROR_REMOTE);
    CHECK_THAT(first.text, Contains("rank 1 left"));
}

TEST_CASE("a missing rank is a time-out") {
    Rendezvous rendezvous("127.0.0.1");
    CHECK(try_meet(rendezvous.make_id(), 0, 2, second_ns / 10).status == HAL_ERROR_TIMEOUT);
}

TEST_CASE("nobody listens any more: the maker of the id is gone") {
    UniqueId id;
    {
        Rendezvous rendezvous("127.0.0.1");
        id = rendezvous.make_id();
    }
    CHECK(try_meet(id, 0, 1).status == HAL_ERROR_REMOTE);
}

TEST_CASE("strangers do no harm") {
    Rendezvous rendezvous("127.0.0.1");
    const UniqueId id = rendezvous.make_id();
    UniqueId forged = id;
    forged.secret[3] = static_cast<uint8_t>(forged.secret[3] ^ 1U);
    CHECK(try_meet(forged, 0, 1).status == HAL_ERROR_INVALID_ARGUMENT);
    std::vector<File> silent;
    for (int i = 0; i < 50; ++i) {
        silent.push_back(connect_to(id));
    }
    const File noisy = connect_to(id);
    const std::vector<std::byte> noise(100'000, std::byte{0xff});
    try {
        send_all(noisy, noise, Deadline::after(second_ns), "noise");
    } catch (const sdk::Error&) {  // refused before all was said
    }
    CHECK(try_meet(id, 0, 1).status == HAL_OK);
}

// With every descriptor taken but those that the rank itself needs.
TEST_CASE("a maker of an id without descriptors says so at once") {
    Rendezvous rendezvous("127.0.0.1");
    const UniqueId id = rendezvous.make_id();
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const int next = dup(0);  // the lowest that is free: the rank's socket takes it
    close(next);
    const rlimit tight{static_cast<rlim_t>(next) + 1, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &tight);
    const Outcome outcome = try_meet(id, 0, 1);
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(outcome.status == HAL_ERROR_OUT_OF_RESOURCES);
    CHECK_THAT(outcome.text, Contains("ulimit -n"));
    CHECK(try_meet(id, 0, 1).status == HAL_OK);
}

TEST_CASE("an interface that is none is told with the option's name") {
    Rendezvous rendezvous("nowhere");
    try {
        static_cast<void>(rendezvous.make_id());
        FAIL("no error");
    } catch (const sdk::Error& error) {
        CHECK(error.status() == HAL_ERROR_INVALID_ARGUMENT);
        CHECK_THAT(error.what(), Contains("xccl_interface") && Contains("nowhere"));
    }
}

}  // namespace
}  // namespace hal::xccl
