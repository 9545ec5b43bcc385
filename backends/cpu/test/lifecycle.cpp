// The life of an instance: counting, live objects, what each thread's current device outlives, forked children, leaks.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <thread>

#include "current_device.hpp"
#include "device.hpp"
#include "event.hpp"
#include "tables.hpp"
#include "test_host.hpp"

namespace hal::cpu {
namespace {

size_t entries_of(const char* folder) {
    size_t count = 0;
    DIR* dir = opendir(folder);
    REQUIRE(dir != nullptr);
    while (readdir(dir) != nullptr) {
        ++count;
    }
    closedir(dir);
    return count;
}

uint64_t resident_kib() {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;) {
        if (word == "VmRSS:") {
            uint64_t kib = 0;
            file >> kib;
            return kib;
        }
    }
    return 0;
}

TEST_CASE("initialize and finalize are counted and may repeat") {
    test::OpenInstance opened;
    Instance& instance = opened.instance();
    instance.initialize();
    instance.finalize();
    CHECK(instance.admit() == HAL_OK);
    instance.finalize();
    CHECK(instance.admit() == HAL_ERROR_NOT_INITIALIZED);
    CHECK(test::status_of([&] { instance.finalize(); }) == HAL_ERROR_NOT_INITIALIZED);
    instance.initialize();
    CHECK(instance.admit() == HAL_OK);
}

TEST_CASE("the last finalize refuses while objects live, and says how many") {
    test::OpenInstance opened;
    hal_stream stream = nullptr;
    hal_event event = nullptr;
    REQUIRE(stream_table.create_stream(opened.self(), 0, nullptr, &stream) == HAL_OK);
    REQUIRE(event_table.create_event(opened.self(), 0, nullptr, &event) == HAL_OK);
    CHECK(device_table.finalize(opened.self()) == HAL_ERROR_BUSY);
    CHECK_THAT(test::Host::last_error(), Catch::Contains("1 stream, 1 event, 0 allocations"));
    CHECK(device_table.init_device(opened.self(), 0) == HAL_OK);
    CHECK(device_table.deinit_device(opened.self(), 0) == HAL_ERROR_BUSY);
    REQUIRE(stream_table.destroy_stream(opened.self(), 0, stream) == HAL_OK);
    REQUIRE(event_table.destroy_event(opened.self(), 0, event) == HAL_OK);
    CHECK(device_table.deinit_device(opened.self(), 0) == HAL_OK);
    CHECK(device_table.deinit_device(opened.self(), 0) == HAL_ERROR_NOT_INITIALIZED);
    CHECK(device_table.finalize(opened.self()) == HAL_OK);
    CHECK(stream_table.create_stream(opened.self(), 0, nullptr, &stream) == HAL_ERROR_NOT_INITIALIZED);
}

TEST_CASE("the current device belongs to a thread and a life of the instance") {
    test::OpenInstance first(3);
    shared::set_current_device(first.instance().life(), 2);
    {
        test::OpenInstance second(3);
        CHECK(shared::current_device(second.instance().life()) == 0);
        shared::set_current_device(second.instance().life(), 1);
        CHECK(shared::current_device(first.instance().life()) == 2);
    }
    std::thread([&] { CHECK(shared::current_device(first.instance().life()) == 0); }).join();
    first.instance().finalize();
    CHECK(shared::current_device(first.instance().life()) == 0);
}

TEST_CASE("a thread forgets the instances that are gone") {
    std::thread([] {
        for (int i = 0; i < 100; ++i) {
            const test::Host host;
            const Instance instance(host.get());
            shared::set_current_device(instance.life(), 0);
            CHECK(shared::current_device_entries() == 1);
        }
    }).join();
}

TEST_CASE("10,000 initialize and finalize cycles leave no thread, file or memory behind") {
    test::OpenInstance opened(2);
    Instance& instance = opened.instance();
    instance.finalize();
    const auto cycle = [&](int number) {
        instance.initialize();
        if (number % 50 == 0) {  // with a worker, and work
            enqueue(instance, number % 2, nullptr, [] { return HAL_OK; });
        }
        instance.finalize();
    };
    for (int i = 0; i < 500; ++i) {
        cycle(i);
    }
    const size_t files = entries_of("/proc/self/fd");
    const size_t threads = entries_of("/proc/self/task");
    const uint64_t memory = resident_kib();
    for (int i = 0; i < 10'000; ++i) {
        cycle(i);
    }
    CHECK(entries_of("/proc/self/fd") == files);
    CHECK(entries_of("/proc/self/task") == threads);
#if !defined(__SANITIZE_ADDRESS__)           // which keeps freed memory for a while, and finds leaks itself
    CHECK(resident_kib() < memory + 4'096);  // 400 bytes a cycle would show
#else
    static_cast<void>(memory);
#endif
}

TEST_CASE("destroying an instance ends streams that still have work, and runs their callbacks") {
    static std::atomic<int> cancelled;
    static std::atomic<int> begun;
    static std::atomic<bool> open;
    cancelled = 0;
    begun = 0;
    open = false;
    std::thread opener;
    {
        test::OpenInstance opened;
        hal_stream streams[2] = {};
        hal_event event = nullptr;
        for (hal_stream& stream : streams) {
            REQUIRE(stream_table.create_stream(opened.self(), 0, nullptr, &stream) == HAL_OK);
        }
        REQUIRE(event_table.create_event(opened.self(), 0, nullptr, &event) == HAL_OK);
        enqueue(opened.instance(), 0, streams[0], [] {
            begun = 1;
            open.wait(false);
            return HAL_OK;
        });
        REQUIRE(event_table.record_event(opened.self(), 0, streams[0], event) == HAL_OK);
        REQUIRE(stream_table.stream_wait_event(opened.self(), 0, streams[1], event) == HAL_OK);
        for (const hal_stream stream : streams) {
            REQUIRE(
                stream_table.stream_add_callback(
                    opened.self(), 0, stream,
                    [](void*, hal_dev, hal_stream, hal_status status) { cancelled += status == HAL_ERROR_CANCELLED; },
                    nullptr) == HAL_OK);
        }
        while (begun == 0) {
            std::this_thread::yield();
        }
        opener = std::thread([&instance = opened.instance()] {
            while (!instance.ending()) {
                std::this_thread::yield();
            }
            open = true;
            open.notify_all();
        });
    }
    opener.join();
    CHECK(cancelled == 2);
}

// The child runs no Catch2 code: it tells by its exit code which check failed.
int check_in_child(test::OpenInstance& opened, const hal_backend_descriptor& backend) {
    int32_t count = 0;
    hal_dev device = 0;
    hal_event event = nullptr;
    test::Host::last_error().clear();
    if (device_table.get_device_count(opened.self(), &count) != HAL_ERROR_FORKED)
        return 1;
    if (test::Host::last_error().find("forked") == std::string::npos)
        return 2;
    if (device_table.get_device(opened.self(), &device) != HAL_ERROR_FORKED)
        return 3;
    if (device_table.initialize(opened.self()) != HAL_ERROR_FORKED)
        return 4;
    if (device_table.synchronize_device(opened.self(), 0, HAL_NO_TIMEOUT) != HAL_ERROR_FORKED)
        return 5;
    if (event_table.create_event(opened.self(), 0, nullptr, &event) != HAL_ERROR_FORKED)
        return 6;
    backend.destroy(opened.self());  // returns, though the threads it would end are not here
    return 0;
}

TEST_CASE("a forked child is refused everywhere and can leave; the parent goes on") {
    test::OpenInstance opened;
    std::atomic<bool> open{false};
    enqueue(opened.instance(), 0, nullptr, [&] {
        open.wait(false);
        return HAL_OK;
    });
    const hal_backend_descriptor* backend = hal_backend_entry_v1(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(20);  // a hang becomes a signal
        _exit(check_in_child(opened, *backend));
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    open = true;
    open.notify_all();
    CHECK(device_table.synchronize_device(opened.self(), 0, HAL_NO_TIMEOUT) == HAL_OK);
}

}  // namespace
}  // namespace hal::cpu
