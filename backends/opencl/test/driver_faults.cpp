// A driver that fails: each fault gives its status and text, is over when the driver recovers, and leaves the other
// device alone.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <future>
#include <mutex>
#include <vector>

#include "driver.hpp"
#include "programs.hpp"

using Catch::Matchers::Contains;

namespace hal::opencl::test {
namespace {

// The error of every command of the first device; CL_SUCCESS: the driver works.
std::atomic<cl_int> error_of_first{CL_SUCCESS};
// The second device's queues: its own and its default stream's.
std::array<cl_command_queue, 2> queues_of_second;

bool of_second(cl_command_queue queue) {
    return std::find(queues_of_second.begin(), queues_of_second.end(), queue) != queues_of_second.end();
}

// One function of the driver that takes a queue, replaced for the life of the object.
template <auto Member>
class Failing;
template <class... Rest, cl_int (*Api::*Member)(cl_command_queue, Rest...)>
class Failing<Member> {
  public:
    explicit Failing(Api& api) : api_(api) {
        real = api.*Member;
        api.*Member = call;
    }
    ~Failing() { api_.*Member = real; }
    Failing(const Failing&) = delete;
    Failing& operator=(const Failing&) = delete;

  private:
    static cl_int call(cl_command_queue queue, Rest... rest) {
        const cl_int error = of_second(queue) ? CL_SUCCESS : error_of_first.load();
        return error != CL_SUCCESS ? error : real(queue, rest...);
    }
    static inline cl_int (*real)(cl_command_queue, Rest...) = nullptr;
    Api& api_;
};

// Every command that the tests below enqueue.
struct FailingCommands {
    explicit FailingCommands(Driver& driver)
        : write(driver.api()), read(driver.api()), fill(driver.api()), kernel(driver.api()), marker(driver.api()) {
        Device& second = driver.instance().device(1);
        queues_of_second = {second.transfer_queue(),
                            reinterpret_cast<cl_command_queue>(second.default_stream.native_handle(nullptr))};
        error_of_first = CL_SUCCESS;
    }
    Failing<&Api::clEnqueueWriteBuffer> write;
    Failing<&Api::clEnqueueReadBuffer> read;
    Failing<&Api::clEnqueueFillBuffer> fill;
    Failing<&Api::clEnqueueNDRangeKernel> kernel;
    Failing<&Api::clEnqueueMarkerWithWaitList> marker;
};

// 1 KiB of a device, with the calls that are tried on it.
class Target {
  public:
    Target(Driver& driver, hal_dev device) : driver_(driver), device_(device) {
        REQUIRE(memory_table.device_memory_allocate(driver.self(), device, sizeof bytes_, &address_) == HAL_OK);
        REQUIRE(kernel_table.register_kernel(driver.self(), &kernels_, &kernel_count_) == HAL_OK);
    }
    ~Target() {
        CHECK(memory_table.device_memory_deallocate(driver_.self(), device_, address_, sizeof bytes_) == HAL_OK);
    }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    hal_status copy() { return memory_table.memory_copy_h2d(driver_.self(), device_, address_, bytes_, sizeof bytes_); }
    hal_status copy_on_stream() {
        return memory_table.async_memory_copy_h2d(driver_.self(), device_, nullptr, address_, bytes_, sizeof bytes_);
    }
    hal_status set() { return memory_table.device_memory_set(driver_.self(), device_, address_, 7, sizeof bytes_); }
    hal_status synchronize() {
        return stream_table.synchronize_stream(driver_.self(), device_, nullptr, HAL_NO_TIMEOUT);
    }
    hal_status launch() {
        const hal_kernel* fill = nullptr;
        for (uint64_t i = 0; i < kernel_count_; ++i) {
            if (std::strcmp(kernels_[i]->op, "Fill") == 0 && kernels_[i]->dtype == HAL_F32) {
                fill = kernels_[i];
            }
        }
        const int64_t shape[1] = {256};
        hal_tensor tensor{};
        tensor.data = address_;
        tensor.device_id = device_;
        tensor.ndim = 1;
        tensor.dtype = HAL_F32;
        tensor.shape = shape;
        tensor.struct_size = sizeof tensor;
        const hal_tensor* const outputs[1] = {&tensor};
        hal_attr value{};
        value.name = "value";
        value.type = HAL_ATTR_I64;
        value.count = 1;
        value.value.i64 = 3;
        hal_kernel_call call{};
        call.size = sizeof call;
        call.device = device_;
        call.instance = driver_.self();
        call.kernel = fill;
        call.outputs = outputs;
        call.output_count = 1;
        call.attributes = &value;
        call.attribute_count = 1;
        return fill->run(&call);
    }
    void require_working() {
        CHECK(copy() == HAL_OK);
        CHECK(set() == HAL_OK);
        CHECK(copy_on_stream() == HAL_OK);
        CHECK(launch() == HAL_OK);
        CHECK(synchronize() == HAL_OK);
    }

  private:
    Driver& driver_;
    hal_dev device_;
    hal_dptr address_ = 0;
    char bytes_[1024] = {};
    const hal_kernel* const* kernels_ = nullptr;
    uint64_t kernel_count_ = 0;
};

}  // namespace

TEST_CASE("a command that the driver refuses is an error of that call and of nothing else") {
    Driver driver;
    if (!driver) {
        return;
    }
    const auto [error, status, name] =
        GENERATE(std::make_tuple(CL_OUT_OF_RESOURCES, HAL_ERROR_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"),
                 std::make_tuple(CL_OUT_OF_HOST_MEMORY, HAL_ERROR_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"),
                 std::make_tuple(CL_INVALID_CONTEXT, HAL_ERROR_DEVICE_LOST, "CL_INVALID_CONTEXT"),
                 std::make_tuple(-9999, HAL_ERROR_DRIVER, "OpenCL error -9999"));
    Target first(driver, 0);
    Target other(driver, 1);
    const FailingCommands failing(driver);
    first.require_working();
    error_of_first = error;
    using Call = hal_status (Target::*)();
    for (const Call call : {&Target::copy, &Target::set, &Target::copy_on_stream, &Target::launch}) {
        CHECK((first.*call)() == status);
        CHECK_THAT(Host::last_error(), Contains(name));
    }
    other.require_working();
    error_of_first = CL_SUCCESS;
    first.require_working();  // nothing sticks: nothing was enqueued
}

namespace {

std::atomic<cl_context> failing_context{nullptr};
decltype(Api::clGetEventInfo) real_event_info = nullptr;

// Work of the context ends with an error.
cl_int failing_event_info(cl_event event, cl_event_info what, size_t size, void* value, size_t* out_size) {
    const cl_int result = real_event_info(event, what, size, value, out_size);
    cl_context context = nullptr;
    if (result == CL_SUCCESS && what == CL_EVENT_COMMAND_EXECUTION_STATUS &&
        real_event_info(event, CL_EVENT_CONTEXT, sizeof context, static_cast<void*>(&context), nullptr) == CL_SUCCESS &&
        context == failing_context) {
        auto& status = *static_cast<cl_int*>(value);
        status = status == CL_COMPLETE ? CL_OUT_OF_RESOURCES : status;
    }
    return result;
}

}  // namespace

TEST_CASE("work that fails mid-way sticks to its stream until that is reset; the other device goes on") {
    Driver driver;
    if (!driver) {
        return;
    }
    Target first(driver, 0);
    Target other(driver, 1);
    real_event_info = driver.api().clGetEventInfo;
    driver.api().clGetEventInfo = failing_event_info;
    failing_context = driver.instance().device(0).context();

    CHECK(first.copy_on_stream() == HAL_OK);
    CHECK(first.synchronize() == HAL_ERROR_OUT_OF_RESOURCES);
    CHECK_THAT(Host::last_error(), Contains("operation 1") && Contains("device 0") && Contains("CL_OUT_OF_RESOURCES") &&
                                       Contains("reset_stream"));
    CHECK(first.launch() == HAL_ERROR_OUT_OF_RESOURCES);
    CHECK(first.synchronize() == HAL_ERROR_OUT_OF_RESOURCES);
    other.require_working();

    failing_context = nullptr;
    CHECK(first.launch() == HAL_ERROR_OUT_OF_RESOURCES);  // the driver is well again, the stream still knows
    CHECK(stream_ext_table.reset_stream(driver.self(), 0, nullptr) == HAL_OK);
    first.require_working();
    driver.api().clGetEventInfo = real_event_info;
}

namespace {

// Calls of ours that the driver still owes, each with its event's status.
struct Owed {
    void(CL_CALLBACK* call)(cl_event, cl_int, void*);
    cl_event event;
    void* user_data;
};
std::mutex owed_mutex;
std::vector<Owed> owed;

cl_int owe_callback(cl_event event, cl_int, void(CL_CALLBACK* call)(cl_event, cl_int, void*), void* user_data) {
    const std::lock_guard lock(owed_mutex);
    owed.push_back({call, event, user_data});
    return CL_SUCCESS;
}

void pay() {
    const std::lock_guard lock(owed_mutex);
    for (const Owed& one : owed) {
        one.call(one.event, CL_COMPLETE, one.user_data);
    }
    owed.clear();
}

}  // namespace

TEST_CASE("a timing event that was waited for has its time, however late the driver calls us") {
    Driver driver;
    if (!driver) {
        return;
    }
    const auto real_set_callback = driver.api().clSetEventCallback;
    driver.api().clSetEventCallback = owe_callback;
    hal_event_desc desc{.header = {sizeof desc, 0, nullptr}};
    desc.flags = HAL_EVENT_TIMING;
    hal_event events[2] = {};
    for (hal_event& event : events) {
        REQUIRE(event_table.create_event(driver.self(), 0, &desc, &event) == HAL_OK);
        REQUIRE(event_table.record_event(driver.self(), 0, nullptr, event) == HAL_OK);
        REQUIRE(event_table.synchronize_event(driver.self(), 0, event, HAL_NO_TIMEOUT) == HAL_OK);
    }
    int64_t elapsed_ns = -1;
    auto asks = std::async(std::launch::async, [&] {
        return event_ext_table.event_elapsed(driver.self(), events[0], events[1], &elapsed_ns);
    });
    CHECK(asks.wait_for(std::chrono::milliseconds(30)) == std::future_status::timeout);  // it waits for the driver
    pay();
    CHECK(asks.get() == HAL_OK);
    CHECK(elapsed_ns >= 0);
    for (hal_event event : events) {
        CHECK(event_table.destroy_event(driver.self(), 0, event) == HAL_OK);
    }
    driver.api().clSetEventCallback = real_set_callback;
}

TEST_CASE("a program that does not build says so with the compiler's log") {
    Driver driver;
    if (!driver) {
        return;
    }
    static constexpr Source wrong{"wrong.cl", {"kernel void wrong() { this is no C }\n", {}, {}}};
    std::string text;
    CHECK(
        status_of(
            [&] { static_cast<void>(driver.instance().device(0).programs.find(wrong, 0, [] { return "-D ONE=1"; })); },
            &text) == HAL_ERROR_COMPILE);
    CHECK_THAT(text, Contains("wrong.cl (-D ONE=1) does not build for device 0") && Contains("error"));
    Target(driver, 0).require_working();
}

}  // namespace hal::opencl::test
