#include "fill_launch.hpp"

#include "benchmark.hpp"

namespace hal::bench {
namespace {

const hal_kernel* find_fill(const Backend& backend) {
    hal_kernel_key key{};
    key.size = sizeof key;
    key.dtype = HAL_F32;
    key.layout = HAL_LAYOUT_ND;
    key.op = "Fill";
    const hal_kernel* kernel = nullptr;
    if (hal_kernel_find(backend.get(), &key, nullptr, &kernel) != HAL_OK) {
        throw Unavailable(hal_last_error());
    }
    return kernel;
}

}  // namespace

FillLaunch::FillLaunch(const Backend& backend) : memory_(backend, elements * sizeof(float)) {
    tensor_.data = memory_.get();
    tensor_.device_type = 12;  // kDLExtDev
    tensor_.device_id = backend.device();
    tensor_.ndim = 1;
    tensor_.dtype = HAL_F32;
    tensor_.shape = shape_;
    tensor_.struct_size = sizeof tensor_;
    tensor_.layout = HAL_LAYOUT_ND;
    tensor_.storage_bytes = elements * sizeof(float);

    value_.name = "value";
    value_.type = HAL_ATTR_F64;
    value_.count = 1;
    value_.value.f64 = 1.5;

    const hal_kernel* kernel = find_fill(backend);
    run_ = kernel->run;
    call_.size = sizeof call_;
    call_.device = backend.device();
    call_.instance = backend.get()->instance;
    call_.kernel = kernel;
    call_.outputs = outputs_;
    call_.attributes = &value_;
    call_.output_count = 1;
    call_.attribute_count = 1;
}

void FillLaunch::launch(hal_stream stream) {
    call_.stream = stream;
    check(run_(&call_), "Fill");
}

}  // namespace hal::bench
