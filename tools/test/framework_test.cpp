// What a framework does, through hal.hpp, the loader and a real back end: devices, memory, streams, events, a kernel.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <vector>

#include "hal/hal.hpp"

namespace {
hal::Loader open_loader() {
    static constexpr const char* paths[] = {HAL_TEST_MANIFEST};
    auto desc = hal::sized<hal_loader_desc>();
    desc.manifest_paths = paths;
    desc.manifest_path_count = 1;
    desc.flags = HAL_LOADER_NO_ENVIRONMENT;
    auto loader = hal::Loader::open(&desc);
    INFO(loader.text());
    REQUIRE(loader.ok());
    return std::move(loader).value();
}

// The test's handle on a result: its text when there is no value.
template <class T>
T take(hal::Result<T> result) {
    INFO(result.text());
    REQUIRE(result.ok());
    return std::move(result).value();
}
void take(const hal::Status& status) {
    INFO(status.text());
    REQUIRE(status.ok());
}

struct Framework {
    hal::Loader loader = open_loader();
    std::vector<hal::Device> devices = take(loader.devices());
    hal::Device device = devices.at(0);
};
}  // namespace

TEST_CASE_METHOD(Framework, "a device tells about itself", "[framework]") {
    CHECK_FALSE(take(device.name()).empty());
    CHECK(take(device.properties()).alignment_bytes >= 256);
    CHECK(take(device.memory_stats()).total_bytes > 0);
    CHECK(take(device.backend().support("memory_copy_h2d")) == HAL_SUPPORT_NATIVE);
    CHECK(loader.backend("nobody").code() == HAL_ERROR_UNKNOWN_ID);
}

TEST_CASE_METHOD(Framework, "data goes out and comes back in stream order", "[framework]") {
    const hal::Stream stream = take(hal::Stream::create(device));
    hal::Buffer buffer = take(hal::Buffer::allocate(device, 4096));
    const hal::HostBuffer out = take(hal::HostBuffer::allocate(device, 4096));
    const hal::HostBuffer back = take(hal::HostBuffer::allocate(device, 4096));
    std::memset(out.data(), 0x5a, 4096);
    std::memset(back.data(), 0, 4096);

    hal::Event copied = take(hal::Event::create(device, HAL_EVENT_TIMING));
    hal::Event begun = take(hal::Event::create(device, HAL_EVENT_TIMING));
    std::atomic<int> called = 0;
    take(begun.record(stream));
    take(buffer.write_on(stream, out.bytes()));
    take(buffer.read_on(stream, back.bytes()));
    take(copied.record(stream));
    take(stream.add_callback([&called](hal_status status) { called = status == HAL_OK ? 1 : -1; }));
    take(stream.synchronize());

    CHECK(std::memcmp(out.data(), back.data(), 4096) == 0);
    CHECK(called == 1);
    CHECK(copied.query() == HAL_OK);
    CHECK(take(copied.elapsed_ns_since(begun)) >= 0);
}

TEST_CASE_METHOD(Framework, "errors come with the back end's own words", "[framework]") {
    const auto nothing = hal::Buffer::allocate(device, 0);
    CHECK(nothing.code() == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(nothing.text() == std::string(hal_last_error()));
    const hal::Device none(device.backend(), 77, device.backend_id());
    CHECK(hal::Stream::create(none).code() == HAL_ERROR_INVALID_DEVICE);
}

TEST_CASE_METHOD(Framework, "an operator runs on a stream", "[framework]") {
    const hal::Stream stream = take(hal::Stream::create(device));
    std::array<float, 6> a{};
    std::iota(a.begin(), a.end(), 1.0F);
    std::array<float, 6> sum{};
    hal::Buffer in = take(hal::Buffer::allocate(device, sizeof a));
    const hal::Buffer out = take(hal::Buffer::allocate(device, sizeof a));
    take(in.write(std::as_bytes(std::span(a))));

    const std::array<int64_t, 2> shape{2, 3};
    const hal_tensor input = hal::dense_tensor(device, in.ptr(), HAL_F32, shape, in.size_bytes());
    const hal_tensor output = hal::dense_tensor(device, out.ptr(), HAL_F32, shape, out.size_bytes());
    hal::Launch add(stream, "Add");
    take(add.input(input).input(input).output(output).run());
    take(add.run());  // again, without a new search
    take(stream.synchronize());
    take(out.read(std::as_writable_bytes(std::span(sum))));
    CHECK(sum == std::array<float, 6>{2, 4, 6, 8, 10, 12});

    const hal::Status unknown = hal::Launch(stream, "Ad").input(input).output(output).run();
    CHECK(unknown.code() == HAL_ERROR_NOT_FOUND);
    CHECK_THAT(unknown.text(), Catch::Contains("Add"));
}

TEST_CASE_METHOD(Framework, "memory in stream order outlives its owner until the work is done", "[framework]") {
    const hal::Stream stream = take(hal::Stream::create(device));
    std::vector<std::byte> data(1 << 20, std::byte{7});
    std::vector<std::byte> back(data.size());
    hal::Buffer buffer = take(hal::Buffer::allocate_on(stream, data.size()));
    take(buffer.write_on(stream, data));
    take(buffer.read_on(stream, back));
    take(buffer.release_on(stream));
    CHECK(buffer.ptr() == 0);
    take(stream.synchronize());
    CHECK(back == data);
    CHECK(take(device.memory_stats()).live_allocations == 0);
}
