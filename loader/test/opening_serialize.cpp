// Plug-ins that want one thread at a time.
#include <thread>

#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

// Runs on many threads at once and tells whether all succeeded.
template <class F>
bool on_threads(F&& f) {
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 500; ++round) {
                failures += f() == HAL_OK ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return failures == 0;
}

// The plug-in's own count of the threads that were inside at one time: 1 when serialised.
int most_inside(const hal_backend* backend) {
    int32_t most = 0;
    REQUIRE(hal_get_device_count(backend, &most) == HAL_OK);
    return most;
}

}  // namespace

TEST_CASE("a serialised plug-in has one thread inside at a time, in entries and kernels", "[opening]") {
    const std::string fault = GENERATE("serialize-all", "serialize-stream");
    Setup setup(fault, {{"count-inside", "1"}});
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    const hal_kernel_key key{.size = sizeof key, .dtype = HAL_F32, .op = "Test"};
    const hal_kernel* kernel = nullptr;
    REQUIRE(hal_kernel_find(backend, &key, nullptr, &kernel) == HAL_OK);
    const hal_kernel_call call{.size = sizeof call, .instance = backend->instance, .kernel = kernel};
    std::atomic<uint32_t> turn{0};
    CHECK(on_threads([&] { return turn++ % 2 == 0 ? hal_synchronize_device(backend, 0, 0) : kernel->run(&call); }));
    CHECK(most_inside(backend) == 1);
    CHECK(kernel->run(nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(hal_unified_memory_allocate(backend, 0, 1, nullptr) == HAL_ERROR_UNSUPPORTED);
    CHECK(says(hal_last_error(), "backend test.faulty"));
    hal_dptr ptr = 0;
    REQUIRE(hal_device_memory_allocate(backend, 0, 16, &ptr) == HAL_OK);
    CHECK(hal_device_memory_set(backend, 0, ptr, 1, 16) == HAL_OK);  // an emulation inside the lock
    CHECK(hal_device_memory_deallocate(backend, 0, ptr, 16) == HAL_OK);
}

TEST_CASE("without the flag several threads are inside", "[opening]") {
    Setup setup("", {{"count-inside", "1"}});
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    // Both hold the device until the other has come: only possible without a lock.
    hal_status theirs = HAL_ERROR_INTERNAL;
    std::thread other([&] { theirs = hal_synchronize_device(backend, 0, 2); });
    CHECK(hal_synchronize_device(backend, 0, 2) == HAL_OK);
    other.join();
    CHECK(theirs == HAL_OK);
    CHECK(most_inside(backend) == 2);
}

TEST_CASE("a callback of a serialised plug-in never deadlocks", "[opening]") {
    struct Seen {
        const hal_backend* backend;
        hal_status status = HAL_ERROR_INTERNAL;
        int calls = 0;
        std::string text;
    };
    Setup setup("serialize-all");
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    Seen seen{.backend = backend};
    const hal_stream_callback callback = [](void* data, hal_dev, hal_stream, hal_status) {
        auto& self = *static_cast<Seen*>(data);
        hal_dev device = 0;
        ++self.calls;
        self.status = hal_get_device(self.backend, &device);
        self.text = hal_last_error();
    };
    SECTION("on the calling thread it may call") {
        CHECK(hal_stream_add_callback(backend, 0, nullptr, callback, &seen) == HAL_OK);
        CHECK(seen.status == HAL_OK);
    }
    SECTION("on a thread of the plug-in while the caller is inside it is told so") {
        CHECK(hal_stream_add_callback(backend, 0, reinterpret_cast<hal_stream>(1), callback, &seen) == HAL_OK);
        CHECK(seen.status == HAL_ERROR_REENTRANT);
        CHECK(says(seen.text, "stream callback"));
    }
    CHECK(seen.calls == 1);
}
