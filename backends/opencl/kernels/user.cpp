// Launching a kernel of the user (user_kernels.hpp). Its arguments: a pointer to each output's first element, to each
// input's, `ulong count` of elements of output 0, then the attributes. At least `count` work-items run.
#include "common/launch.hpp"
#include "user_kernels.hpp"

namespace hal::opencl {
namespace {

const UserKernel& user_kernel(const Call& call) {
    return *reinterpret_cast<const UserKernel*>(call.raw().kernel->user_data);
}

View read_dense(const Call& call, const View& view, const std::string& name) {
    call.expect_dtype(view, name, call.dtype());
    if (!view.dense()) {
        call.refuse(name, "kernels of the user take dense tensors; copy it first");
    }
    return view;
}

// The tensors in the order of the arguments.
std::vector<View> read_tensors(const Call& call, const UserKernel& kernel) {
    std::vector<View> views;
    for (uint32_t i = 0; i < kernel.outputs; ++i) {
        views.push_back(read_dense(call, call.output(i), "output " + std::to_string(i)));
    }
    for (uint32_t i = 0; i < kernel.inputs; ++i) {
        views.push_back(read_dense(call, call.input(i), "input " + std::to_string(i)));
    }
    for (uint32_t i = 0; i < kernel.outputs; ++i) {
        for (uint32_t k = 0; k < kernel.inputs; ++k) {
            call.expect_apart(views[i], views[kernel.outputs + k], "input " + std::to_string(k), false);
        }
    }
    return views;
}

// A cl_mem that begins at the element: a part of the allocation's, where the device can make one there.
class Part {
  public:
    Part(const Call& call, const View& view)
        : api_(call.device().api()), place_(view.data == nullptr ? Place{} : call.place_of(view.data)) {
        if (place_.buffer == nullptr || place_.offset == 0) {
            return;
        }
        if (const uint64_t unit = call.device().info().alignment_bytes; place_.offset % unit != 0) {
            call.refuse("", "a tensor begins " + std::to_string(place_.offset) +
                                " bytes into its memory; for kernels of the user this device takes multiples of " +
                                std::to_string(unit));
        }
        const cl_buffer_region region{static_cast<size_t>(place_.offset),
                                      static_cast<size_t>(view.shape.count() * view.item_bytes)};
        cl_int error = CL_SUCCESS;
        part_ = api_.clCreateSubBuffer(place_.buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        check(error, "clCreateSubBuffer");
        place_ = {part_, 0, nullptr};
    }
    Part(Part&& other) noexcept : api_(other.api_), place_(other.place_), part_(other.part_) { other.part_ = nullptr; }
    Part& operator=(Part&&) = delete;
    ~Part() {
        if (part_ != nullptr) {
            static_cast<void>(api_.clReleaseMemObject(part_));  // the driver keeps it until the kernel has run
        }
    }
    [[nodiscard]] const Place& place() const noexcept { return place_; }

  private:
    const Api& api_;
    Place place_;
    cl_mem part_ = nullptr;
};

void add_attributes(const Call& call, const UserKernel& kernel, detail::Arguments& arguments) {
    for (const UserKernel::Attribute& attribute : kernel.attributes) {
        const auto value = [&] {
            return std::visit([](auto number) { return static_cast<double>(number); }, *call.number(attribute.name));
        };
        switch (attribute.passed) {
            case UserKernel::Passed::f32:
                arguments.add(static_cast<float>(value()));
                break;
            case UserKernel::Passed::f64:
                arguments.add(value());
                break;
            case UserKernel::Passed::i64:
                arguments.add(*call.integer(attribute.name));
        }
    }
}

void check_attributes(const Call& call, const UserKernel& kernel) {
    std::vector<std::string_view> known;
    for (const UserKernel::Attribute& attribute : kernel.attributes) {
        known.push_back(attribute.name);
        if (!(attribute.passed == UserKernel::Passed::i64 ? call.integer(attribute.name).has_value()
                                                          : call.number(attribute.name).has_value())) {
            call.refuse("", "attribute \"" + attribute.name + "\" is missing");
        }
    }
    call.attributes(known);
}

hal_status run(Instance& instance, const hal_kernel_call& raw) {
    const auto& kernel = *reinterpret_cast<const UserKernel*>(sdk::require(raw.kernel, "call.kernel").user_data);
    const Call call(instance, raw, Purpose::run, kernel.inputs, kernel.outputs);
    const std::vector<View> views = read_tensors(call, kernel);
    check_attributes(call, kernel);
    const auto count = static_cast<uint64_t>(views[0].shape.count());
    if (count == 0) {
        enqueue_nothing(call);
        return HAL_OK;
    }
    std::vector<Part> parts;
    for (const View& view : views) {
        parts.emplace_back(call, view);
    }
    Device& device = call.device();
    Kernel& program = device.programs.find(kernel.source, 0, [&] { return kernel.options; }).kernel(kernel.entry);
    enqueue(call, [&](cl_command_queue queue, cl_event* out) {
        const std::lock_guard lock(program.mutex);
        detail::Arguments arguments(device.api(), program.kernel);
        for (const Part& part : parts) {
            arguments.add(part.place());
        }
        arguments.add(count);
        add_attributes(call, kernel, arguments);
        return arguments.error() != CL_SUCCESS
                   ? arguments.error()
                   : detail::run(device.api(), queue, program, Range::items(static_cast<int64_t>(count)), out);
    });
    return HAL_OK;
}

// Only what this device can run at all.
uint64_t can_run(const Call& call) {
    if (user_kernel(call).source.spirv && !call.device().info().has_spirv) {
        call.refuse("", "device " + std::to_string(call.device().ordinal()) + " takes no SPIR-V",
                    HAL_ERROR_UNSUPPORTED);
    }
    return 0;
}

}  // namespace

hal_status run_user_kernel(const hal_kernel_call* call) noexcept {
    return sdk::kernel<run>(call);
}

hal_status query_user_kernel(const hal_kernel_call* call, uint64_t* out_workspace_bytes) {
    return shared::query_slot<Call, can_run, shared::any_inputs>(call, out_workspace_bytes);
}

}  // namespace hal::opencl
