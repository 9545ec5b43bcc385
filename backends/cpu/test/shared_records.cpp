// Events between processes: bound records, errors, processes that die, handles that are none.
#include "shared_records.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "test_host.hpp"

namespace hal::cpu {
namespace {

const auto never = [] { return false; };

TEST_CASE("records complete one by one, in any order") {
    const auto records = SharedRecords::create();
    CHECK(records->latest() == 0);
    CHECK(records->reached(0));
    const uint64_t first = records->begin();
    const uint64_t second = records->begin();
    CHECK(records->latest() == second);
    records->complete(second, HAL_OK);
    CHECK(records->reached(second));
    CHECK_FALSE(records->reached(first));  // bound to its own record
    CHECK(records->wait_until(first, Deadline::after(1'000'000), never) == HAL_ERROR_TIMEOUT);
    CHECK(records->wait_until(first, Deadline::never(), [] { return true; }) == HAL_ERROR_CANCELLED);
    records->complete(first, HAL_ERROR_KERNEL_FAULT);
    CHECK(records->wait_until(first, Deadline::never(), never) == HAL_OK);
    CHECK(records->outcome(first) == HAL_ERROR_KERNEL_FAULT);
    CHECK(records->outcome(second) == HAL_OK);
}

TEST_CASE("more records than places need earlier ones to complete") {
    const auto records = SharedRecords::create();
    std::vector<uint64_t> pending;
    std::string text;
    hal_status status = HAL_OK;
    while (pending.size() < 1'000 && status == HAL_OK) {
        status = test::status_of([&] { pending.push_back(records->begin()); }, &text);
    }
    CHECK(status == HAL_ERROR_BUSY);
    CHECK_THAT(text, Catch::Contains(std::to_string(pending.size()) + " records"));
    records->complete(pending.front(), HAL_OK);
    const uint64_t late = records->begin();
    CHECK(records->reached(pending.front()));
    CHECK_FALSE(records->reached(late));
}

TEST_CASE("another process waits for a record, and is answered by one of its own") {
    const auto request = SharedRecords::create();
    const auto answer = SharedRecords::create();
    const uint64_t asked = request->begin();
    const hal_ipc_handle handles[2] = {request->handle(), answer->handle()};
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(20);
        const auto in = SharedRecords::open(handles[0]);
        const auto out = SharedRecords::open(handles[1]);
        const uint64_t number = out->begin();
        const hal_status status = in->wait_until(in->latest(), Deadline::never(), never);
        out->complete(number, status == HAL_OK ? in->outcome(in->latest()) : HAL_ERROR_INTERNAL);
        _exit(0);
    }
    while (answer->latest() == 0) {
        usleep(100);
    }
    CHECK_FALSE(answer->reached(1));
    request->complete(asked, HAL_ERROR_DRIVER);
    CHECK(answer->wait_until(1, Deadline::never(), never) == HAL_OK);
    CHECK(answer->outcome(1) == HAL_ERROR_DRIVER);
    CHECK(waitpid(child, nullptr, 0) == child);
}

TEST_CASE("a process that dies with a record pending is noticed") {
    const auto records = SharedRecords::create();
    const hal_ipc_handle handle = records->handle();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        static_cast<void>(SharedRecords::open(handle)->begin());
        _exit(0);
    }
    siginfo_t info{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    CHECK(records->latest() == 1);
    CHECK(records->wait_until(1, Deadline::never(), never) == HAL_ERROR_REMOTE);  // a zombie
    REQUIRE(waitpid(child, nullptr, 0) == child);
    CHECK(records->wait_until(1, Deadline::never(), never) == HAL_ERROR_REMOTE);  // gone
}

TEST_CASE("handles that are none are refused") {
    const auto open = [](const hal_ipc_handle& handle) {
        return test::status_of([&] { static_cast<void>(SharedRecords::open(handle)); });
    };
    auto records = SharedRecords::create();
    const hal_ipc_handle good = records->handle();
    CHECK(open(good) == HAL_OK);
    CHECK(open(hal_ipc_handle{}) == HAL_ERROR_INVALID_ARGUMENT);

    std::mt19937 random(11);
    for (int i = 0; i < 1'000; ++i) {
        hal_ipc_handle garbage;
        for (uint8_t& byte : garbage.bytes) {
            byte = static_cast<uint8_t>(random());
        }
        REQUIRE(open(garbage) == HAL_ERROR_INVALID_ARGUMENT);
    }
    for (size_t i = 0; i < sizeof good.bytes; ++i) {
        hal_ipc_handle changed = good;
        changed.bytes[i] ^= 0x10;
        REQUIRE(open(changed) != HAL_OK);
    }

    hal_ipc_handle other_file = good;  // the place of the descriptor in the handle, with that of a pipe in it
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    std::memcpy(other_file.bytes + 12, &ends[0], sizeof ends[0]);
    CHECK(open(other_file) == HAL_ERROR_NOT_FOUND);
    close(ends[0]);
    close(ends[1]);
    records.reset();
    CHECK(open(good) == HAL_ERROR_NOT_FOUND);
}

}  // namespace
}  // namespace hal::cpu
