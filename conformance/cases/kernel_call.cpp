#include "kernel_call.hpp"

namespace hal::conformance {
namespace {

uint64_t bytes_of(hal_dtype dtype, const std::vector<int64_t>& shape) {
    uint64_t count = 1;
    for (const int64_t extent : shape) {
        count *= static_cast<uint64_t>(extent);
    }
    return count * HAL_DTYPE_BITS(dtype) / 8;
}

}  // namespace

const NeedGroup& launching() {
    static const NeedGroup group = [] {
        NeedGroup all{E::register_kernel};
        const auto& memory = memory_io().list;
        all.list.insert(all.list.end(), memory.begin(), memory.end());
        return all;
    }();
    return group;
}

over operators(std::string_view type) {
    over axis{"op", {}};
    for (const std::string_view name :
         {"Fill", "Copy", "Cast", "Add", "Sub", "Mul", "Max", "Relu", "Exp", "ReduceSum", "Softmax", "MatMul"}) {
        axis.values.emplace_back(name, std::vector<Need>{type.empty() ? op(name) : op(name, type)});
    }
    return axis;
}

std::vector<const hal_kernel*> kernels_of(Test& t) {
    const hal_kernel* const* list = nullptr;
    uint64_t count = 0;
    if (!t.ok(t.api.register_kernel(&list, &count))) {
        return {};
    }
    return {list, list + count};
}

Operator::Operator(Test& test, std::string_view op, hal_dtype dtype) : test_(test) {
    for (const hal_kernel* kernel : kernels_of(test)) {
        if (kernel->op == op && (kernel->dtype == dtype || (kernel_ == nullptr && kernel->dtype == HAL_DTYPE_ANY))) {
            kernel_ = kernel;
        }
    }
    test.check(kernel_ != nullptr, "a kernel of the type for " + std::string(op));
}

Operator::Held& Operator::add(hal_dtype dtype, const std::vector<int64_t>& shape, uint64_t size) {
    Held& held = *tensors_.emplace_back(std::make_unique<Held>());
    held.shape = shape;
    held.buffer = &test_.device(std::max<uint64_t>(size, 1));
    hal_tensor& tensor = held.tensor;
    tensor.data = held.buffer->ptr;
    tensor.device_type = 12;
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = dtype;
    tensor.shape = held.shape.data();
    tensor.struct_size = sizeof tensor;
    tensor.storage_bytes = size;
    return held;
}

void Operator::add_input(hal_dtype dtype, const std::vector<int64_t>& shape, const void* values, size_t size) {
    Held& held = add(dtype, shape, size);
    held.bytes.assign(static_cast<const uint8_t*>(values), static_cast<const uint8_t*>(values) + size);
    held.tensor.flags = HAL_TENSOR_READ_ONLY;
    if (size != 0) {
        test_.ok(test_.api.memory_copy_h2d(0, held.tensor.data, values, size));
    }
    inputs_.push_back(&held.tensor);
}

void Operator::output(hal_dtype dtype, const std::vector<int64_t>& shape) {
    Held& held = add(dtype, shape, bytes_of(dtype, shape));
    output_buffer_ = held.buffer;
    output_bytes_ = held.tensor.storage_bytes;
    outputs_.push_back(&held.tensor);
}

void Operator::attribute(const char* name, int64_t value) {
    hal_attr attr{};
    attr.name = names_.emplace_back(name).c_str();
    attr.type = HAL_ATTR_I64;
    attr.count = 1;
    attr.value.i64 = value;
    attributes_.push_back(attr);
}

void Operator::attribute(const char* name, const std::vector<int64_t>& values) {
    hal_attr attr{};
    attr.name = names_.emplace_back(name).c_str();
    attr.type = HAL_ATTR_I64_ARRAY;
    attr.count = values.size();
    attr.value.i64_array = arrays_.emplace_back(values).data();
    attributes_.push_back(attr);
}

void Operator::fill_call(hal_stream stream) {
    call_ = {};
    call_.size = sizeof call_;
    call_.instance = test_.backend().instance();
    call_.kernel = kernel_;
    call_.stream = stream;
    call_.inputs = inputs_.data();
    call_.outputs = outputs_.data();
    call_.attributes = attributes_.data();
    call_.input_count = static_cast<uint32_t>(inputs_.size());
    call_.output_count = static_cast<uint32_t>(outputs_.size());
    call_.attribute_count = static_cast<uint32_t>(attributes_.size());
}

hal_status Operator::query() {
    if (kernel_ == nullptr) {
        return HAL_ERROR_NOT_FOUND;
    }
    fill_call(nullptr);
    uint64_t workspace = 0;
    return kernel_->query == nullptr ? HAL_OK : kernel_->query(&call_, &workspace);
}

hal_status Operator::launch(hal_stream stream, const std::function<void(hal_kernel_call&)>& spoil) {
    if (kernel_ == nullptr) {
        return HAL_ERROR_NOT_FOUND;
    }
    fill_call(stream);
    if (spoil) {
        spoil(call_);
    } else if (kernel_->query != nullptr) {
        uint64_t workspace = 0;
        if (const hal_status status = kernel_->query(&call_, &workspace); status != HAL_OK) {
            return status;
        }
        if (workspace != 0) {
            if (workspace_ == nullptr || workspace_->size != workspace) {
                workspace_ = &test_.device(workspace);
            }
            call_.workspace = workspace_->base;  // aligned to 256 bytes; the guard behind it begins a little later
            call_.workspace_bytes = workspace;
        }
    }
    return kernel_->run(&call_);
}

void Operator::scramble_call() {
    for (const auto& held : tensors_) {
        held->shape.assign(held->shape.size(), -1);
        std::memset(static_cast<void*>(&held->tensor), poison, sizeof held->tensor);
    }
    std::fill(inputs_.begin(), inputs_.end(), nullptr);
    std::fill(outputs_.begin(), outputs_.end(), nullptr);
    attributes_.clear();
    std::memset(static_cast<void*>(&call_), poison, sizeof call_);
}

void Operator::expect_unwritten(Where where) {
    test_.expect(*output_buffer_, poison, "the output keeps its poison", where);
}

void Operator::expect_unwritten(const Gate& gate, Where where) {
    test_.expect_unwritten(*output_buffer_, gate, where);
}

void Operator::expect_inputs_unchanged(Where where) {
    for (const auto& held : tensors_) {
        if (held->bytes.empty()) {
            continue;
        }
        std::vector<uint8_t> now(held->bytes.size());
        test_.ok(test_.api.memory_copy_d2h(0, now.data(), held->buffer->ptr, now.size()), "reading an input back",
                 where);
        test_.check(now == held->bytes, "an input is unchanged", where);
    }
}

std::vector<uint8_t> Operator::read_output(Where where) {
    const HostBuffer back(output_buffer_->size);
    test_.ok(test_.api.memory_copy_d2h(0, back.data() - guard_bytes, output_buffer_->base,
                                       output_buffer_->size + 2 * guard_bytes),
             "reading the output", where);
    test_.check(back.guards_intact(), "nothing is written around the output", where);
    return {back.data(), back.data() + output_bytes_};
}

void Operator::release() {
    for (const auto& held : tensors_) {
        test_.release(*held->buffer);
    }
    if (workspace_ != nullptr) {
        test_.release(*workspace_);
    }
}

void Operator::expect_bytes(const void* expected, size_t size, Where where) {
    const auto got = read_output(where);
    test_.eq(size, got.size(), "bytes of the output", where);
    test_.check(got.size() == size && std::memcmp(got.data(), expected, size) == 0, "every byte of the output is right",
                where);
}

void Operator::in_place() {
    hal_tensor& output = tensors_.back()->tensor;
    output.data = tensors_.front()->tensor.data;
    output_buffer_ = tensors_.front()->buffer;
    tensors_.front()->tensor.flags = 0;
    tensors_.front()->bytes.clear();  // it is meant to change
}

bool Operator::expect_workspace_kept(Where where) {
    if (workspace_ == nullptr) {
        return false;
    }
    const HostBuffer back(2 * guard_bytes);
    test_.ok(test_.api.memory_copy_d2h(0, back.data(), workspace_->base + call_.workspace_bytes, back.size()),
             "reading behind the workspace", where);
    test_.check(!compare(back.data(), poison, guard_bytes) && !compare(back.data() + guard_bytes, guard, guard_bytes),
                "nothing is written behind the workspace", where);
    return true;
}

std::unique_ptr<Operator> operator_of(Test& t, const Trial& trial) {
    auto op = std::make_unique<Operator>(t, trial.op, trial.key().dtype);
    for (const Operand& input : trial.inputs) {
        op->input_bytes(input.type.dtype, input.shape, input.bytes);
    }
    for (const Attribute& attribute : trial.attributes) {
        if (attribute.array) {
            op->attribute(attribute.name.c_str(), attribute.values);
        } else {
            op->attribute(attribute.name.c_str(), attribute.values[0]);
        }
    }
    op->output(trial.type.dtype, trial.shape);
    return op;
}

void run_trial(Test& t, const Trial& trial, hal_stream stream) {
    const auto op = operator_of(t, trial);
    const hal_status status = op->launch(stream);
    // Which pairs of types Cast offers is the plug-in's choice.
    const bool refused = status == HAL_ERROR_UNSUPPORTED && trial.op == "Cast";
    if (!refused && t.ok(status, "launch of " + trial.op + ", " + trial.name)) {
        t.sync(stream);
        op->expect_inputs_unchanged();
        t.eq(std::string("right"), judge_result(trial, op->read_output()).value_or("right"),
             trial.op + ", " + trial.name);
    }
    op->release();
}

}  // namespace hal::conformance
