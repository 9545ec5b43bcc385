// Launch: from tensors and attributes to a running kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hal/stream.hpp"

namespace hal {

// A dense row-major tensor. `shape` is borrowed: it stays alive as long as the tensor is used.
[[nodiscard]] inline hal_tensor dense_tensor(const Device& device, hal_dptr data, hal_dtype dtype,
                                             std::span<const int64_t> shape, uint64_t storage_bytes = 0) noexcept {
    hal_tensor tensor{};
    tensor.data = data;
    tensor.device_type = 12;  // DLPack's kDLExtDev
    tensor.device_id = device.ordinal();
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = dtype;
    tensor.shape = shape.data();
    tensor.struct_size = sizeof tensor;
    tensor.layout = HAL_LAYOUT_ND;
    tensor.storage_bytes = storage_bytes;
    return tensor;
}

// One launch of an operator, built step by step and run any number of times:
//   Launch(stream, "Add").input(a).input(b).output(c).run()
// Tensors, names, strings and arrays are borrowed until the last run; `data` of a tensor may change between runs, after
// any other change call prepare again. Tensor memory stays valid until the stream has run the work. Destroying a Launch
// does not touch pending work: the workspace is freed in stream order. One thread at a time; the stream outlives the
// Launch. Setters may throw std::bad_alloc.
class Launch {
  public:
    Launch(const Stream& stream, const char* op) : stream_(&stream), op_(op) {}

    Launch& input(const hal_tensor& tensor) { return add(inputs_, tensor); }
    Launch& output(const hal_tensor& tensor) { return add(outputs_, tensor); }

    Launch& attribute(const char* name, int64_t value) { return add(name, HAL_ATTR_I64, 1).i64(value); }
    Launch& attribute(const char* name, int32_t value) { return attribute(name, int64_t{value}); }
    Launch& attribute(const char* name, double value) { return add(name, HAL_ATTR_F64, 1).f64(value); }
    Launch& attribute(const char* name, const char* value) {
        return add(name, HAL_ATTR_STRING, std::char_traits<char>::length(value)).string(value);
    }
    Launch& attribute(const char* name, std::span<const int64_t> values) {
        return add(name, HAL_ATTR_I64_ARRAY, values.size()).i64_array(values.data());
    }
    Launch& attribute(const char* name, std::span<const double> values) {
        return add(name, HAL_ATTR_F64_ARRAY, values.size()).f64_array(values.data());
    }

    // Of the operator's definition; 0, the default, takes any.
    Launch& op_version(uint32_t version) noexcept {
        op_version_ = version;
        kernel_ = nullptr;
        return *this;
    }

    // The caller's own workspace, valid until the stream has run the work, instead of one that run allocates.
    Launch& workspace(hal_dptr ptr, uint64_t size_bytes) noexcept {
        workspace_ = ptr;
        workspace_given_ = size_bytes;
        return *this;
    }

    // Finds the kernel: the best match that can run these tensors; a match whose query says UNSUPPORTED, or that cannot
    // take strided tensors, gives way to the next. NOT_FOUND with the near misses if there is none. May throw
    // std::bad_alloc.
    Status prepare();

    // Enqueues the kernel and returns; prepares first if nobody did. The workspace is allocated and freed in stream
    // order; where the back end cannot, UNSUPPORTED asks for workspace().
    Status run();

    // After prepare: the kernel, borrowed until the back end is closed, and the bytes of workspace that it wants.
    [[nodiscard]] const hal_kernel* kernel() const noexcept { return kernel_; }
    [[nodiscard]] uint64_t workspace_bytes() const noexcept { return workspace_bytes_; }

  private:
    // The union member of the attribute that was added last.
    struct Value {
        Launch& launch;
        Launch& i64(int64_t value) { return launch.attributes_.back().value.i64 = value, launch; }
        Launch& f64(double value) { return launch.attributes_.back().value.f64 = value, launch; }
        Launch& string(const char* value) { return launch.attributes_.back().value.string = value, launch; }
        Launch& i64_array(const int64_t* value) { return launch.attributes_.back().value.i64_array = value, launch; }
        Launch& f64_array(const double* value) { return launch.attributes_.back().value.f64_array = value, launch; }
    };

    Launch& add(std::vector<const hal_tensor*>& list, const hal_tensor& tensor) {
        list.push_back(&tensor);
        kernel_ = nullptr;
        return *this;
    }
    Value add(const char* name, uint32_t type, uint64_t count) {
        attributes_.push_back({name, type, 0, count, {}});
        kernel_ = nullptr;
        return {*this};
    }

    [[nodiscard]] hal_kernel_call call(const hal_kernel& kernel) const noexcept;
    [[nodiscard]] bool all_dense() const noexcept;
    Status accepts(const hal_kernel& kernel, bool dense, uint64_t& out_workspace_bytes) const noexcept;

    const Stream* stream_;
    const char* op_;
    std::vector<const hal_tensor*> inputs_;
    std::vector<const hal_tensor*> outputs_;
    std::vector<hal_attr> attributes_;
    const hal_kernel* kernel_ = nullptr;
    hal_dptr workspace_ = 0;
    uint64_t workspace_given_ = 0;
    uint64_t workspace_bytes_ = 0;
    uint32_t op_version_ = 0;
};

namespace detail {
// Row-major without gaps; the stride of an extent of 1 does not matter.
inline bool is_dense(const hal_tensor& tensor) noexcept {
    int64_t expected = 1;
    for (int32_t axis = tensor.strides == nullptr ? -1 : tensor.ndim - 1; axis >= 0; --axis) {
        if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) {
            return false;
        }
        expected *= tensor.shape[axis];
    }
    return true;
}
}  // namespace detail

inline bool Launch::all_dense() const noexcept {
    const auto dense = [](const hal_tensor* tensor) { return detail::is_dense(*tensor); };
    return std::all_of(inputs_.begin(), inputs_.end(), dense) && std::all_of(outputs_.begin(), outputs_.end(), dense);
}

inline hal_kernel_call Launch::call(const hal_kernel& kernel) const noexcept {
    hal_kernel_call call{};
    call.size = sizeof call;
    call.device = stream_->device().ordinal();
    call.instance = stream_->device().backend().get()->instance;
    call.kernel = &kernel;
    call.stream = stream_->get();
    call.inputs = inputs_.data();
    call.outputs = outputs_.data();
    call.attributes = attributes_.data();
    call.input_count = static_cast<uint32_t>(inputs_.size());
    call.output_count = static_cast<uint32_t>(outputs_.size());
    call.attribute_count = static_cast<uint32_t>(attributes_.size());
    return call;
}

inline Status Launch::accepts(const hal_kernel& kernel, bool dense, uint64_t& out_workspace_bytes) const noexcept {
    out_workspace_bytes = 0;
    if (!dense && (kernel.flags & HAL_KERNEL_STRIDED) == 0) {
        return Status(HAL_ERROR_UNSUPPORTED, "the kernel takes dense tensors only; copy the strided ones first");
    }
    if (kernel.query == nullptr) {
        return HAL_OK;
    }
    const hal_kernel_call query = call(kernel);
    return kernel.query(&query, &out_workspace_bytes);
}

inline Status Launch::prepare() {
    kernel_ = nullptr;
    if (inputs_.empty() && outputs_.empty()) {
        return Status(HAL_ERROR_INVALID_ARGUMENT, "a launch needs an input or an output");
    }
    std::vector<hal_dtype> signature;
    signature.reserve(inputs_.size() + outputs_.size());
    for (const auto* list : {&inputs_, &outputs_}) {
        for (const hal_tensor* tensor : *list) {
            signature.push_back(tensor->dtype);
        }
    }
    const hal_tensor& first = inputs_.empty() ? *outputs_.front() : *inputs_.front();
    const auto capability = stream_->device().compute_capability();

    hal_kernel_key key{};
    key.size = sizeof key;
    key.dtype = first.dtype;
    key.layout = first.layout;
    key.op_version = op_version_;
    key.op = op_;
    key.arch = capability.ok() && capability->arch[0] != '\0' ? capability->arch : nullptr;
    key.signature = signature.data();
    key.signature_count = static_cast<uint32_t>(signature.size());

    const bool dense = all_dense();
    Status refusal;
    const hal_kernel* kernel = nullptr;
    while (true) {
        const hal_status found = hal_kernel_find(stream_->device().backend().get(), &key, kernel, &kernel);
        if (found != HAL_OK) {
            // A match that refused tells more than "no further match".
            return found == HAL_ERROR_NOT_FOUND && refusal.is_error() ? std::move(refusal) : Status(found);
        }
        uint64_t workspace_bytes = 0;
        Status status = accepts(*kernel, dense, workspace_bytes);
        if (status.ok()) {
            kernel_ = kernel;
            workspace_bytes_ = workspace_bytes;
            return status;
        }
        if (status.code() != HAL_ERROR_UNSUPPORTED) {
            return status;
        }
        refusal = std::move(status);
    }
}

inline Status Launch::run() {
    if (kernel_ == nullptr) {
        if (Status status = prepare(); !status.ok()) {
            return status;
        }
    }
    hal_kernel_call launch = call(*kernel_);
    const Device& device = stream_->device();
    if (workspace_bytes_ <= workspace_given_) {
        launch.workspace = workspace_;
        launch.workspace_bytes = workspace_given_;
        return kernel_->run(&launch);
    }
    if (workspace_given_ != 0) {
        return Status(HAL_ERROR_BUFFER_TOO_SMALL, "the workspace is smaller than workspace_bytes()");
    }
    launch.workspace_bytes = workspace_bytes_;
    if (const hal_status status = device.backend().async_memory_allocate(device.ordinal(), stream_->get(),
                                                                         workspace_bytes_, &launch.workspace);
        status != HAL_OK) {
        return status == HAL_ERROR_UNSUPPORTED
                   ? Status(status,
                            "no stream-ordered memory for the workspace; give workspace_bytes() with workspace()")
                   : Status(status);
    }
    Status status = kernel_->run(&launch);
    const hal_status freed =
        device.backend().async_memory_deallocate(device.ordinal(), stream_->get(), launch.workspace);
    return status.ok() ? Status(freed) : std::move(status);
}

}  // namespace hal
