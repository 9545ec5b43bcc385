// Loader, Backend, Device and the owners: what they call, and when.
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <type_traits>

#include "fake_loader.hpp"

using Calls = std::vector<std::string>;

TEST_CASE("owners are move-only and their moves and destructors do not throw", "[wrapper]") {
    const auto check = []<class T>(std::type_identity<T>) {
        static_assert(!std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>);
        static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>);
        static_assert(std::is_nothrow_destructible_v<T>);
    };
    check(std::type_identity<hal::Loader>{});
    check(std::type_identity<hal::Stream>{});
    check(std::type_identity<hal::Event>{});
    check(std::type_identity<hal::Buffer>{});
    check(std::type_identity<hal::HostBuffer>{});
    static_assert(std::is_trivially_copyable_v<hal::Backend> && std::is_trivially_copyable_v<hal::Device>);
    static_assert(sizeof(hal::Backend) == sizeof(void*));
}

TEST_CASE("every entry is a member of Backend with the table's signature", "[wrapper]") {
    Fake fake;
    const hal::Backend backend(&fake.head);
    int32_t count = 0;
    CHECK(backend.get_device_count(&count) == HAL_OK);
    CHECK(count == 3);
    CHECK(backend.initialize() == HAL_OK);
    CHECK(fake.calls == Calls{"get_device_count", "initialize"});
    CHECK(backend.support("memory_copy_p2p").value() == HAL_SUPPORT_EMULATED);
    CHECK(backend.support("memory_copy").code() == HAL_ERROR_NOT_FOUND);

    // A member for each slot, with the slot's parameters after the instance.
    const auto same = []<class... Args>(hal_status (*)(hal_instance*, Args...),
                                        hal_status (hal::Backend::*)(Args...) const noexcept) { return true; };
    size_t members = 0;
#define HAL_FN(table, entry, need, clause, since, effect, params) \
    members += same(decltype(hal_##table##_table::entry){}, &hal::Backend::entry);
#include "hal/tables/all.def"
    CHECK(members > 74);
}

TEST_CASE("Loader closes once, lists devices and reports", "[wrapper]") {
    Fake fake;
    fake.devices = {{&fake.head, "fake", 0, 0}, {&fake.head, "fake", 1, 0}};
    {
        auto opened = hal::Loader::open();
        REQUIRE(opened);
        hal::Loader loader = std::move(opened).value();
        CHECK(loader.backend("acme.npu").value().get() == &fake.head);
        const auto devices = loader.devices();
        REQUIRE(devices);
        REQUIRE(devices->size() == 2);
        CHECK((*devices)[1].ordinal() == 1);
        CHECK((*devices)[1].backend_id() == std::string("fake"));
        CHECK(loader.reports().value().at(1).rank == 1);
        fake.devices_status = HAL_ERROR_NO_BACKEND;
        CHECK(loader.devices().code() == HAL_ERROR_NO_BACKEND);
    }
    CHECK(fake.calls == Calls{"hal_loader_open", "acme.npu", "hal_loader_close"});

    fake.next = HAL_ERROR_PERMISSION;
    CHECK(hal::Loader::open().text() == std::string("hal_loader_open failed"));
}

TEST_CASE("Device copies strings of any length", "[wrapper]") {
    Fake fake;
    CHECK(fake.device().name().value() == "fake device");
    fake.device_name.assign(300, 'n');
    CHECK(fake.device().name().value() == std::string(300, 'n'));
    fake.device_name.clear();
    CHECK(fake.device().name().value().empty());
    fake.next = HAL_ERROR_DEVICE_LOST;
    CHECK(fake.device().name().code() == HAL_ERROR_DEVICE_LOST);
    CHECK(fake.device().synchronize(7).vendor_code() == 5);
}

TEST_CASE("streams and events are destroyed once, by whoever holds them last", "[wrapper]") {
    Fake fake;
    {
        hal::Stream stream = hal::Stream::create(fake.device(), 2).value();
        hal::Event event = hal::Event::create(fake.device(), HAL_EVENT_TIMING).value();
        CHECK(event.record(stream).ok());
        CHECK(stream.wait(event).ok());
        CHECK(event.elapsed_ns_since(event).value() == 1500);
        hal::Stream moved = std::move(stream);
        CHECK(stream.get() == nullptr);
        CHECK(moved.close().ok());
        CHECK(moved.close().ok());
    }
    CHECK(fake.calls == Calls{"create_stream 2", "create_event 1", "record_event 87", "stream_wait_event",
                              "event_elapsed", "destroy_stream", "destroy_event"});
}

TEST_CASE("the default stream is not destroyed, and NOT_READY is handed on", "[wrapper]") {
    Fake fake;
    {
        const hal::Stream stream = hal::Stream::default_of(fake.device());
        fake.next = HAL_NOT_READY;
        CHECK(stream.query() == HAL_NOT_READY);
    }
    CHECK(fake.calls == Calls{"query_stream"});
    fake.next = HAL_ERROR_OUT_OF_RESOURCES;
    CHECK(hal::Stream::create(fake.device()).code() == HAL_ERROR_OUT_OF_RESOURCES);
    CHECK(hal::Event::create(fake.device()).text() == std::string("create_event failed"));
}

TEST_CASE("a callback runs once and is freed, also when it is refused", "[wrapper]") {
    Fake fake;
    const hal::Stream stream = hal::Stream::default_of(fake.device());
    auto alive = std::make_shared<hal_status>(HAL_OK);
    CHECK(stream.add_callback([alive](hal_status status) { *alive = status; }).ok());
    CHECK(*alive == HAL_ERROR_KERNEL_FAULT);
    CHECK(alive.use_count() == 1);
    fake.next = HAL_ERROR_SHUTDOWN;
    CHECK(stream.add_callback([alive](hal_status) {}).text() == std::string("stream_add_callback failed"));
    CHECK(alive.use_count() == 1);
}

TEST_CASE("buffers free what they allocated and check their range", "[wrapper]") {
    Fake fake;
    std::array<std::byte, 16> bytes{};
    {
        hal::Buffer buffer = hal::Buffer::allocate(fake.device(), 64).value();
        CHECK(buffer.write(bytes, 48).ok());
        CHECK(buffer.write(bytes, 49).code() == HAL_ERROR_INVALID_ARGUMENT);
        CHECK(buffer.read(bytes, UINT64_MAX).code() == HAL_ERROR_INVALID_ARGUMENT);
        buffer = hal::Buffer::allocate(fake.device(), 32).value();
        const hal::HostBuffer host = hal::HostBuffer::allocate(fake.device(), 128).value();
        CHECK(host.bytes().size() == 128);
    }
    CHECK(fake.calls == Calls{"device_memory_allocate 64", "memory_copy_h2d 65584", "device_memory_allocate 32",
                              "device_memory_deallocate 64", "host_memory_allocate 128", "host_memory_deallocate 128",
                              "device_memory_deallocate 32"});
}

TEST_CASE("a buffer given to a stream is freed there, or kept on an error", "[wrapper]") {
    Fake fake;
    const hal::Stream stream = hal::Stream::default_of(fake.device());
    {
        hal::Buffer buffer = hal::Buffer::allocate_on(stream, 64).value();
        fake.next = HAL_ERROR_UNSUPPORTED;
        CHECK(buffer.release_on(stream).code() == HAL_ERROR_UNSUPPORTED);
        CHECK(buffer.size_bytes() == 64);
        fake.next = HAL_OK;
        CHECK(buffer.release_on(stream).ok());
        CHECK(buffer.ptr() == 0);
    }
    CHECK(fake.calls ==
          Calls{"async_memory_allocate 64", "async_memory_deallocate 196608", "async_memory_deallocate 196608"});
}
