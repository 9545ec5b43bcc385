// What a queue asks the driver for. PoCL has no priorities, so the call that takes them is replaced.
#include <vector>

#include "driver.hpp"

namespace hal::opencl::test {
namespace {

std::vector<cl_queue_properties> asked;
Api* driver_api = nullptr;

cl_command_queue keep_properties(cl_context context, cl_device_id device, const cl_queue_properties* properties,
                                 cl_int* error) {
    asked.clear();
    for (; *properties != 0; properties += 2) {
        asked.insert(asked.end(), {properties[0], properties[1]});
    }
    return driver_api->clCreateCommandQueue(context, device, 0, error);
}

}  // namespace

TEST_CASE("a priority is a hint of cl_khr_priority_hints") {
    Driver driver;
    if (!driver) {
        return;
    }
    driver_api = &driver.api();
    driver.api().clCreateCommandQueueWithProperties = keep_properties;
    const Device& device = driver.instance().device(0);
    const auto made_for = [&](bool profiled, int32_t priority) {
        const Queue queue(driver.api(), device.context(), device.id(), profiled, priority);
        return asked;
    };
    using Properties = std::vector<cl_queue_properties>;
    CHECK(made_for(false, greatest_priority) ==
          Properties{CL_QUEUE_PROPERTIES, 0, CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR});
    CHECK(made_for(true, least_priority) ==
          Properties{CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_LOW_KHR});
}

TEST_CASE("a device without priorities has one, and refuses others in words") {
    Driver driver;
    if (!driver) {
        return;
    }
    int32_t least = 5;
    int32_t greatest = 5;
    REQUIRE(stream_ext_table.stream_priority_range(driver.self(), 0, &least, &greatest) == HAL_OK);
    REQUIRE_FALSE(driver.instance().device(0).info().has_priorities);
    CHECK(least == 0);
    CHECK(greatest == 0);
    hal_stream_desc desc{.header = {sizeof desc, 0, nullptr}, .priority = -1};
    hal_stream stream = nullptr;
    CHECK(stream_table.create_stream(driver.self(), 0, &desc, &stream) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK_THAT(Host::last_error(), Catch::Matchers::Contains("desc.priority is -1"));
}

}  // namespace hal::opencl::test
