#include "api.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>

namespace hal::opencl {
namespace {

constexpr const char* library_name = "libOpenCL.so.1";

[[noreturn]] void no_library(const char* what) {
    const char* const reason = dlerror();
    throw sdk::Error(HAL_ERROR_NO_DEVICE, std::string(what) + ": " + (reason == nullptr ? "no reason given" : reason) +
                                              "; install an OpenCL ICD loader and the driver of the device");
}

struct Meaning {
    const char* text;
    cl_int error;
    hal_status status;
};

constexpr Meaning meanings[] = {
#define HAL_CL_ERROR(name, status) {#name, name, status},
#include "errors.def"
};

// nullptr if it is not in the list.
const Meaning* meaning_of(cl_int error) noexcept {
    const auto* const found = std::find_if(std::begin(meanings), std::end(meanings),
                                           [error](const Meaning& meaning) { return meaning.error == error; });
    return found == std::end(meanings) ? nullptr : found;
}

}  // namespace

Api::Api() {
    void* const library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
        no_library("libOpenCL cannot be opened");
    }
#define HAL_CL(function)                                                        \
    function = reinterpret_cast<decltype(function)>(dlsym(library, #function)); \
    if (function == nullptr) {                                                  \
        no_library("libOpenCL is too old");                                     \
    }
#include "api.def"
}

std::string cl_text(cl_int error) {
    const Meaning* const meaning = meaning_of(error);
    return meaning == nullptr ? "OpenCL error " + std::to_string(error) : meaning->text;
}

hal_status cl_status(cl_int error) noexcept {
    const Meaning* const meaning = meaning_of(error);
    return meaning == nullptr ? HAL_ERROR_DRIVER : meaning->status;
}

void check(cl_int error, const char* call) {
    if (error != CL_SUCCESS) [[unlikely]] {
        throw sdk::Error(cl_status(error), std::string(call) + ": the driver says " + cl_text(error), error);
    }
}

cl_int Event::status() const noexcept {
    cl_int status = CL_COMPLETE;
    if (event_ != nullptr) {
        const cl_int error =
            api_->clGetEventInfo(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        return error == CL_SUCCESS ? status : error;
    }
    return status;
}

std::optional<uint64_t> Event::end_ns() const noexcept {
    cl_ulong time = 0;
    const bool known = event_ != nullptr && api_->clGetEventProfilingInfo(event_, CL_PROFILING_COMMAND_END, sizeof time,
                                                                          &time, nullptr) == CL_SUCCESS;
    return known ? std::optional<uint64_t>(time) : std::nullopt;
}

cl_context Event::context() const {
    cl_context context = nullptr;
    check(api_->clGetEventInfo(event_, CL_EVENT_CONTEXT, sizeof(cl_context), static_cast<void*>(&context), nullptr),
          "clGetEventInfo");
    return context;
}

Queue::Queue(const Api& api, cl_context context, cl_device_id device, bool profiled, int32_t priority) : api_(api) {
    cl_int error = CL_SUCCESS;
    const cl_command_queue_properties flags = profiled ? CL_QUEUE_PROFILING_ENABLE : 0;
    if (priority == 0) {
        queue_ = api.clCreateCommandQueue(context, device, flags, &error);
        check(error, "clCreateCommandQueue");
        return;
    }
    const cl_queue_properties hint = priority < 0 ? CL_QUEUE_PRIORITY_HIGH_KHR : CL_QUEUE_PRIORITY_LOW_KHR;
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, flags, CL_QUEUE_PRIORITY_KHR, hint, 0};
    queue_ = api.clCreateCommandQueueWithProperties(context, device, properties, &error);
    check(error, "clCreateCommandQueueWithProperties");
}

Queue::~Queue() {
    static_cast<void>(api_.clFinish(queue_));
    static_cast<void>(api_.clReleaseCommandQueue(queue_));
}

UserEvent::UserEvent(const Api& api, cl_context context) : api_(&api) {
    cl_int error = CL_SUCCESS;
    event_ = Event(api, api.clCreateUserEvent(context, &error));
    check(error, "clCreateUserEvent");
}

void UserEvent::complete(cl_int status) const noexcept {
    static_cast<void>(api_->clSetUserEventStatus(event_.get(), status));
}

Event bridged(const Api& api, const Event& event, cl_context context) {
    if (event.ended()) {
        return {};
    }
    if (event.context() == context) {
        return event;
    }
    const UserEvent there(api, context);
    try {
        when_ended(api, event, [there](cl_int status) { there.complete(status < 0 ? status : CL_COMPLETE); });
    } catch (...) {
        there.complete(CL_OUT_OF_RESOURCES);  // nobody may wait for it for ever
        throw;
    }
    return there.event();
}

}  // namespace hal::opencl
