// A stream's worker: errors that stick, skipping, resetting, failing to start, re-entry.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <thread>

#include "device.hpp"
#include "event.hpp"
#include "tables.hpp"
#include "test_host.hpp"

namespace hal::cpu {
namespace {

struct Fixture {
    test::OpenInstance opened{2};
    Instance& instance = opened.instance();
    hal_stream stream = nullptr;

    Fixture() { REQUIRE(stream_table.create_stream(opened.self(), 0, nullptr, &stream) == HAL_OK); }
    ~Fixture() { CHECK(stream_table.destroy_stream(opened.self(), 0, stream) == HAL_OK); }

    hal_status synchronize() { return stream_table.synchronize_stream(opened.self(), 0, stream, HAL_NO_TIMEOUT); }
};

TEST_CASE_METHOD(Fixture, "an error sticks to its stream, with its text, until reset") {
    hal_event before = nullptr;
    hal_event after = nullptr;
    REQUIRE(event_table.create_event(opened.self(), 0, nullptr, &before) == HAL_OK);
    REQUIRE(event_table.create_event(opened.self(), 0, nullptr, &after) == HAL_OK);
    int ran = 0;
    enqueue(instance, 0, stream, [&] { return ++ran, HAL_OK; });
    REQUIRE(event_table.record_event(opened.self(), 0, stream, before) == HAL_OK);
    std::atomic<bool> open{false};
    enqueue(instance, 0, stream, [&]() -> hal_status {
        open.wait(false);
        throw std::runtime_error("the kernel divided by zero");
    });
    enqueue(instance, 0, stream, [&] { return ++ran, HAL_OK; });
    static hal_status told;
    REQUIRE(stream_table.stream_add_callback(
                opened.self(), 0, stream, [](void*, hal_dev, hal_stream, hal_status status) { told = status; },
                nullptr) == HAL_OK);
    REQUIRE(event_table.record_event(opened.self(), 0, stream, after) == HAL_OK);
    open = true;
    open.notify_all();
    CHECK(synchronize() == HAL_ERROR_KERNEL_FAULT);
    CHECK_THAT(test::Host::last_error(), Catch::Contains("operation 1 of stream") &&
                                             Catch::Contains("divided by zero") && Catch::Contains("reset_stream"));
    CHECK(ran == 1);
    CHECK(told == HAL_ERROR_KERNEL_FAULT);
    CHECK(event_table.query_event(opened.self(), 0, before) == HAL_OK);
    CHECK(event_table.query_event(opened.self(), 0, after) == HAL_ERROR_KERNEL_FAULT);
    CHECK(stream_table.query_stream(opened.self(), 0, stream, nullptr) == HAL_ERROR_KERNEL_FAULT);
    CHECK(device_table.synchronize_device(opened.self(), 0, HAL_NO_TIMEOUT) == HAL_ERROR_KERNEL_FAULT);
    CHECK(device_table.synchronize_device(opened.self(), 1, HAL_NO_TIMEOUT) == HAL_OK);
    CHECK(test::status_of([&] { enqueue(instance, 0, stream, [] { return HAL_OK; }); }) == HAL_ERROR_KERNEL_FAULT);
    // A stream that waits for the failed record goes on.
    REQUIRE(stream_table.stream_wait_event(opened.self(), 0, nullptr, after) == HAL_OK);
    CHECK(stream_table.synchronize_stream(opened.self(), 0, nullptr, HAL_NO_TIMEOUT) == HAL_OK);

    REQUIRE(stream_ext_table.reset_stream(opened.self(), 0, stream) == HAL_OK);
    CHECK(stream_table.query_stream(opened.self(), 0, stream, nullptr) == HAL_OK);
    CHECK(event_table.query_event(opened.self(), 0, after) == HAL_ERROR_KERNEL_FAULT);
    enqueue(instance, 0, stream, [&] { return ++ran, HAL_OK; });
    CHECK(synchronize() == HAL_OK);
    CHECK(ran == 2);
    CHECK(event_table.destroy_event(opened.self(), 0, before) == HAL_OK);
    CHECK(event_table.destroy_event(opened.self(), 0, after) == HAL_OK);
}

TEST_CASE_METHOD(Fixture, "work that is never run is destroyed all the same") {
    const auto token = std::make_shared<int>();
    enqueue(instance, 0, stream, [] { return HAL_ERROR_DRIVER; });
    // Whether the failure is seen here or later: the copy in the operation goes.
    static_cast<void>(test::status_of([&] { enqueue(instance, 0, stream, [token] { return HAL_OK; }); }));
    CHECK(synchronize() == HAL_ERROR_DRIVER);
    CHECK(token.use_count() == 1);
}

TEST_CASE_METHOD(Fixture, "blocking entries are refused on a worker") {
    std::atomic<int> refused{0};
    enqueue(instance, 0, stream, [&] {
        hal_instance* self = opened.self();
        refused += stream_table.synchronize_stream(self, 0, nullptr, HAL_NO_TIMEOUT) == HAL_ERROR_REENTRANT;
        refused += stream_table.destroy_stream(self, 0, stream) == HAL_ERROR_REENTRANT;
        refused += stream_ext_table.reset_stream(self, 0, stream) == HAL_ERROR_REENTRANT;
        refused += event_table.synchronize_event(self, 0, nullptr, HAL_NO_TIMEOUT) == HAL_ERROR_REENTRANT;
        refused += device_table.synchronize_device(self, 0, HAL_NO_TIMEOUT) == HAL_ERROR_REENTRANT;
        refused += device_table.finalize(self) == HAL_ERROR_REENTRANT;
        refused += device_table.deinit_device(self, 0) == HAL_ERROR_REENTRANT;
        refused += test::Host::last_error().find("deinit_device") != std::string::npos;
        // Not blocking, so allowed; and no other stream's worker is in the way of an enqueue.
        refused += stream_table.query_stream(self, 0, stream, nullptr) == HAL_NOT_READY;
        enqueue(instance, 1, nullptr, [] { return HAL_OK; });
        return HAL_OK;
    });
    CHECK(synchronize() == HAL_OK);
    CHECK(refused == 9);
    CHECK(device_table.synchronize_device(opened.self(), 1, HAL_NO_TIMEOUT) == HAL_OK);
}

TEST_CASE_METHOD(Fixture, "an enqueue from a callback runs behind what is there") {
    std::atomic<int> order{0};
    std::atomic<int> place{0};
    std::atomic<bool> ready{false};
    enqueue(instance, 0, stream, [&] {
        ready.wait(false);
        enqueue(instance, 0, stream, [&] { return place = ++order, HAL_OK; });
        return HAL_OK;
    });
    enqueue(instance, 0, stream, [&] { return ++order, HAL_OK; });
    ready = true;
    ready.notify_all();
    CHECK(synchronize() == HAL_OK);
    CHECK(synchronize() == HAL_OK);  // the first may have been bound to a point before the late one
    CHECK(place == 2);
}

TEST_CASE_METHOD(Fixture, "operations are counted, our own are not") {
    for (int i = 0; i < 5; ++i) {
        enqueue(instance, 0, stream, [] { return HAL_OK; });
    }
    CHECK(synchronize() == HAL_OK);
    CHECK(stream_ext_table.reset_stream(opened.self(), 0, stream) == HAL_OK);
    hal_stream_info info{};
    info.header.size = sizeof info;
    CHECK(stream_table.query_stream(opened.self(), 0, stream, &info) == HAL_OK);
    CHECK(info.submitted_count == 5);
    CHECK(info.completed_count == 5);
    CHECK(info.status == HAL_OK);
}

TEST_CASE_METHOD(Fixture, "a priority is the niceness of the worker") {
    int32_t least = -1;
    int32_t greatest = 1;
    REQUIRE(stream_ext_table.stream_priority_range(opened.self(), 0, &least, &greatest) == HAL_OK);
    REQUIRE(least >= 0);
    REQUIRE(greatest == 0);
    hal_stream_desc desc{};
    desc.header.size = sizeof desc;
    desc.priority = least;
    hal_stream low = nullptr;
    REQUIRE(stream_table.create_stream(opened.self(), 0, &desc, &low) == HAL_OK);
    uint64_t thread = 0;
    REQUIRE(stream_ext_table.stream_native_handle(opened.self(), 0, low, &thread) == HAL_OK);
    CHECK(getpriority(PRIO_PROCESS, static_cast<id_t>(thread)) == getpriority(PRIO_PROCESS, 0) + least);
    CHECK(stream_table.destroy_stream(opened.self(), 0, low) == HAL_OK);
    desc.priority = least + 1;
    CHECK(stream_table.create_stream(opened.self(), 0, &desc, &low) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK_THAT(test::Host::last_error(), Catch::Contains("allowed is 0 (runs first) to " + std::to_string(least)));
}

#if !defined(__SANITIZE_THREAD__)  // which allows no thread in a forked child
// In a child, because the limit cannot be taken back. Root is not bound by it, so the child becomes nobody first.
int run_out_of_threads() {
    const uid_t nobody = 65534;
    if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0)
        return 1;
    test::OpenInstance opened;
    rlimit many{};
    if (getrlimit(RLIMIT_NPROC, &many) != 0)
        return 8;
    const rlimit none{0, many.rlim_max};
    std::string text;
    const auto work = [] { return HAL_OK; };
    if (setrlimit(RLIMIT_NPROC, &none) != 0)
        return 2;
    if (test::status_of([&] { enqueue(opened.instance(), 0, nullptr, work); }, &text) != HAL_ERROR_OUT_OF_RESOURCES)
        return 3;
    if (text.find("no thread for the default stream of device 0") == std::string::npos)
        return 4;
    if (setrlimit(RLIMIT_NPROC, &many) != 0)
        return 5;
    if (test::status_of([&] { enqueue(opened.instance(), 0, nullptr, work); }) != HAL_OK)
        return 6;
    if (device_table.synchronize_device(opened.self(), 0, HAL_NO_TIMEOUT) != HAL_OK)
        return 7;
    return 0;
}

TEST_CASE("a worker that cannot be started is an error that passes") {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(20);
        _exit(run_out_of_threads());
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
#endif

}  // namespace
}  // namespace hal::cpu
