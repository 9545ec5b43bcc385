// The eight entries of the skeleton, called as the loader calls them.
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "hal/plugin.h"

namespace {
std::string last_text;

struct Opened {
    hal_host host{};
    const hal_backend_descriptor* backend = nullptr;
    hal_instance* instance = nullptr;
    const hal_device_table* device = nullptr;
    const hal_event_table* event = nullptr;

    Opened() {
        host.size = sizeof host;
        host.abi_version = HAL_ABI_VERSION;
        host.set_error = [](const hal_host*, hal_status, int64_t, const char* text) { last_text = text; };
        last_text.clear();
        backend = hal_backend_entry_v1(&host);
        REQUIRE(backend != nullptr);
        REQUIRE(backend->create(&host, &instance) == HAL_OK);
        device = reinterpret_cast<const hal_device_table*>(backend->get_table(instance, HAL_TABLE_device));
        event = reinterpret_cast<const hal_event_table*>(backend->get_table(instance, HAL_TABLE_event));
        REQUIRE(device != nullptr);
        REQUIRE(event != nullptr);
    }
    ~Opened() { backend->destroy(instance); }
};
const auto no_event = reinterpret_cast<hal_event>(0x10);
const auto no_stream = reinterpret_cast<hal_stream>(0x20);
}  // namespace

TEST_CASE_METHOD(Opened, "the entry offers two tables and refuses another ABI", "[skeleton]") {
    CHECK(backend->name == std::string("skeleton"));
    CHECK(hal_backend_entry_v1(&host) == backend);
    CHECK(device->header.size == sizeof *device);
    CHECK(device->header.id_major == HAL_TABLE_device);
    CHECK(backend->get_table(instance, HAL_TABLE_memory) == nullptr);
    CHECK(backend->get_table(instance, HAL_TABLE_ID(1, 2)) == nullptr);

    host.abi_version = HAL_MAKE_VERSION(HAL_ABI_MAJOR + 1, 0);
    CHECK(hal_backend_entry_v1(&host) == nullptr);
    CHECK_THAT(last_text, Catch::Contains("speaks ABI 1.0, the host 2.0"));
}

TEST_CASE_METHOD(Opened, "the one device can be counted, chosen and waited for", "[skeleton]") {
    int32_t count = 0;
    CHECK(device->get_device_count(instance, &count) == HAL_OK);
    CHECK(count == 1);
    hal_dev current = -1;
    CHECK(device->get_device(instance, &current) == HAL_OK);
    CHECK(current == 0);
    CHECK(device->set_device(instance, 0) == HAL_OK);
    CHECK(device->synchronize_device(instance, 0, 0) == HAL_OK);

    for (const hal_dev none : {-1, 1}) {
        CHECK(device->set_device(instance, none) == HAL_ERROR_INVALID_DEVICE);
        CHECK(device->synchronize_device(instance, none, 0) == HAL_ERROR_INVALID_DEVICE);
    }
    CHECK(last_text == "device 1 does not exist; there are 1");
    CHECK(device->get_device(instance, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(device->get_device_count(instance, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(last_text == "out_count is NULL");
}

TEST_CASE_METHOD(Opened, "an event is complete as soon as it is recorded", "[skeleton]") {
    hal_event made = nullptr;
    REQUIRE(event->create_event(instance, 0, nullptr, &made) == HAL_OK);
    CHECK(event->synchronize_event(instance, 0, made, 0) == HAL_OK);
    CHECK(event->record_event(instance, 0, nullptr, made) == HAL_OK);
    CHECK(event->record_event(instance, 0, nullptr, made) == HAL_OK);
    CHECK(event->synchronize_event(instance, 0, made, HAL_NO_TIMEOUT) == HAL_OK);
    CHECK(event->destroy_event(instance, 0, made) == HAL_OK);
    CHECK(event->destroy_event(instance, 0, made) == HAL_ERROR_INVALID_HANDLE);
}

TEST_CASE_METHOD(Opened, "events unlink wherever they stand, and the rest end with the instance", "[skeleton]") {
    hal_event made[4] = {};
    for (auto& one : made) {
        REQUIRE(event->create_event(instance, 0, nullptr, &one) == HAL_OK);
    }
    CHECK(event->destroy_event(instance, 0, made[1]) == HAL_OK);
    CHECK(event->destroy_event(instance, 0, made[3]) == HAL_OK);
    CHECK(event->synchronize_event(instance, 0, made[0], 0) == HAL_OK);
    CHECK(event->synchronize_event(instance, 0, made[2], 0) == HAL_OK);
    CHECK(event->synchronize_event(instance, 0, made[3], 0) == HAL_ERROR_INVALID_HANDLE);
}

TEST_CASE_METHOD(Opened, "bad devices, streams, events and descriptions are refused", "[skeleton]") {
    hal_event made = nullptr;
    CHECK(event->create_event(instance, 0, nullptr, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(event->create_event(instance, 1, nullptr, &made) == HAL_ERROR_INVALID_DEVICE);

    hal_header must{sizeof(hal_header), HAL_MUST_UNDERSTAND | 3u, nullptr};
    hal_event_desc desc{{0, 0, nullptr}, 0, 0};
    CHECK(event->create_event(instance, 0, &desc, &made) == HAL_ERROR_INVALID_ARGUMENT);
    desc.header = {sizeof desc, 0, &must};
    CHECK(event->create_event(instance, 0, &desc, &made) == HAL_ERROR_UNSUPPORTED);
    desc = {{sizeof desc, 0, nullptr}, HAL_EVENT_TIMING, 0};
    CHECK(event->create_event(instance, 0, &desc, &made) == HAL_ERROR_UNSUPPORTED);
    CHECK(made == nullptr);

    // A caller of an older header has no flags yet.
    desc.header.size = sizeof(hal_header);
    REQUIRE(event->create_event(instance, 0, &desc, &made) == HAL_OK);
    CHECK(event->record_event(instance, 0, no_stream, made) == HAL_ERROR_INVALID_HANDLE);
    CHECK(event->record_event(instance, 1, nullptr, made) == HAL_ERROR_INVALID_DEVICE);
    CHECK(event->record_event(instance, 0, nullptr, no_event) == HAL_ERROR_INVALID_HANDLE);
    CHECK(event->synchronize_event(instance, 0, nullptr, 0) == HAL_ERROR_INVALID_HANDLE);
    CHECK(event->destroy_event(instance, 1, made) == HAL_ERROR_INVALID_DEVICE);
}

TEST_CASE_METHOD(Opened, "threads create and destroy events at the same time", "[skeleton]") {
    const auto work = [this] {
        for (int round = 0; round < 500; ++round) {
            hal_event made = nullptr;
            if (event->create_event(instance, 0, nullptr, &made) != HAL_OK ||
                event->record_event(instance, 0, nullptr, made) != HAL_OK ||
                event->destroy_event(instance, 0, made) != HAL_OK) {
                return false;
            }
        }
        return true;
    };
    bool other = false;
    std::thread thread([&] { other = work(); });
    const bool own = work();
    thread.join();
    CHECK(own);
    CHECK(other);
}

TEST_CASE("instances come and go", "[skeleton]") {
    // More rounds than a process has thread-specific keys: a leak of them would show.
    for (int round = 0; round < 3000; ++round) {
        const Opened opened;
        hal_event left = nullptr;
        REQUIRE(opened.event->create_event(opened.instance, 0, nullptr, &left) == HAL_OK);
    }
}
