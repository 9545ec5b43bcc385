#include "call.hpp"

#include <algorithm>

namespace hal::shared {
namespace {

// Throws nothing: false on overflow.
bool multiply(int64_t a, int64_t b, int64_t& out) {
    return !__builtin_mul_overflow(a, b, &out);
}
bool add(int64_t a, int64_t b, int64_t& out) {
    return !__builtin_add_overflow(a, b, &out);
}

// The bytes before and behind element 0 that the view touches; false on overflow. Without elements none.
struct Reach {
    int64_t before = 0;  // <= 0
    int64_t behind = 0;
};
bool reach(const View& view, Reach& out) {
    out = {};
    if (view.shape.count() == 0) {
        return true;
    }
    out.behind = view.item_bytes;
    for (int32_t axis = 0; axis < view.shape.rank; ++axis) {
        int64_t span = 0;
        int64_t& side = view.stride[axis] < 0 ? out.before : out.behind;
        if (!multiply(view.shape.extent[axis] - 1, view.stride[axis], span) || !add(side, span, side)) {
            return false;
        }
    }
    return true;
}

struct Range {
    uintptr_t begin;
    uintptr_t end;
};
Range range_of(const View& view) {
    Reach bytes;
    reach(view, bytes);  // checked when the view was read
    const auto base = reinterpret_cast<uintptr_t>(view.data);
    return {base + static_cast<uintptr_t>(bytes.before), base + static_cast<uintptr_t>(bytes.behind)};
}

}  // namespace

std::string TensorName::text() const {
    return index ? std::string(kind) + " " + std::to_string(*index) : kind;
}

int64_t Shape::count() const noexcept {
    int64_t product = 1;
    for (const int64_t e : extents()) {
        product *= e;
    }
    return product;
}

std::string Shape::text() const {
    std::string text = "[";
    for (const int64_t e : extents()) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(e);
    }
    return text + "]";
}

bool View::dense() const noexcept {
    int64_t expected = item_bytes;
    for (int32_t axis = shape.rank - 1; axis >= 0; --axis) {
        if (shape.extent[axis] != 1 && stride[axis] != expected) {
            return false;
        }
        expected *= shape.extent[axis];
    }
    return true;
}

View dense_view(hal_dtype dtype, const Shape& shape) {
    View view;
    view.dtype = dtype;
    view.item_bytes = HAL_DTYPE_BITS(dtype) * HAL_DTYPE_LANES(dtype) / 8;
    view.shape = shape;
    int64_t bytes = view.item_bytes;
    for (int32_t axis = shape.rank - 1; axis >= 0; --axis) {
        view.stride[axis] = bytes;
        bytes *= std::max<int64_t>(shape.extent[axis], 1);
    }
    return view;
}

Call::Call(const hal_kernel_call& call, Purpose purpose, uint32_t inputs, uint32_t outputs)
    : call_(call), purpose_(purpose) {
    if (call.size < sizeof(hal_kernel_call)) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "hal_kernel_call.size is " + std::to_string(call.size) +
                                                         "; set it to sizeof the struct, " +
                                                         std::to_string(sizeof(hal_kernel_call)));
    }
    sdk::require(call.kernel, "call.kernel");
    if (inputs != any_inputs && call.input_count != inputs) {
        refuse("", std::to_string(call.input_count) + " inputs were given, expected " + std::to_string(inputs));
    }
    if (call.output_count != outputs && (purpose == Purpose::run || call.output_count != 0)) {
        refuse("", std::to_string(call.output_count) + " outputs were given, expected " + std::to_string(outputs));
    }
    if ((call.input_count != 0 && call.inputs == nullptr) || (call.output_count != 0 && call.outputs == nullptr) ||
        (call.attribute_count != 0 && call.attributes == nullptr)) {
        refuse("", "an array of the call is NULL though its count is not 0");
    }
}

std::string Call::operator_name() const {
    return call_.kernel->op == nullptr ? "kernel" : call_.kernel->op;
}

std::string Call::named(std::string_view tensor) const {
    return (operator_name() + (tensor.empty() ? "" : ": ")).append(tensor);
}

void Call::refuse(std::string_view tensor, std::string_view text, hal_status status) const {
    throw sdk::Error(status, (named(tensor) + ": ").append(text));
}

View Call::input(uint32_t index) const {
    return read(call_.inputs[index], {"input", index});
}

View Call::output(uint32_t index) const {
    const TensorName name{"output", index};
    const View view = read(call_.outputs[index], name);
    if ((call_.outputs[index]->flags & HAL_TENSOR_READ_ONLY) != 0) {
        refuse(name.text(), "it is read-only");
    }
    for (int32_t axis = 0; axis < view.shape.rank && view.shape.count() != 0; ++axis) {
        if (view.stride[axis] == 0 && view.shape.extent[axis] > 1) {
            refuse(name.text(), "stride 0 at axis " + std::to_string(axis) + " of extent " +
                                    std::to_string(view.shape.extent[axis]) + ": its elements share memory");
        }
    }
    return view;
}

View Call::read(const hal_tensor* tensor, const TensorName& name) const {
    if (tensor == nullptr) {
        refuse(name.text(), "the tensor is NULL");
    }
    if (tensor->struct_size < sizeof(hal_tensor)) {
        refuse(name.text(), "struct_size is " + std::to_string(tensor->struct_size) + ", expected at least " +
                                std::to_string(sizeof(hal_tensor)));
    }
    if (tensor->ndim < 0 || tensor->ndim > HAL_MAX_RANK) {
        refuse(name.text(),
               "ndim is " + std::to_string(tensor->ndim) + ", expected 0 to " + std::to_string(HAL_MAX_RANK),
               tensor->ndim < 0 ? HAL_ERROR_INVALID_ARGUMENT : HAL_ERROR_UNSUPPORTED);
    }
    if (tensor->ndim > 0 && tensor->shape == nullptr) {
        refuse(name.text(), "shape is NULL but ndim is " + std::to_string(tensor->ndim));
    }
    View view;
    view.dtype = tensor->dtype;
    const uint32_t bits = HAL_DTYPE_BITS(tensor->dtype) * HAL_DTYPE_LANES(tensor->dtype);
    if (bits == 0 || bits % 8 != 0) {
        refuse(name.text(), "dtype " + dtype_text(tensor->dtype) + " has no whole number of bytes",
               HAL_ERROR_UNSUPPORTED);
    }
    view.item_bytes = bits / 8;
    view.shape.rank = tensor->ndim;
    std::copy_n(tensor->shape, tensor->ndim, view.shape.extent.begin());
    read_strides(*tensor, name, view);
    if (purpose_ == Purpose::run) {
        place(*tensor, name, view);
    }
    return view;
}

// Also proves that no product of extents and strides overflows.
void Call::read_strides(const hal_tensor& tensor, const TensorName& name, View& view) const {
    int64_t bytes = view.item_bytes;
    bool fits = true;
    for (int32_t axis = view.shape.rank - 1; axis >= 0; --axis) {
        const int64_t extent = view.shape.extent[axis];
        if (extent < 0) {
            refuse(name.text(),
                   "extent " + std::to_string(extent) + " at axis " + std::to_string(axis) + " is negative");
        }
        fits =
            fits && (tensor.strides == nullptr || multiply(tensor.strides[axis], view.item_bytes, view.stride[axis]));
        if (tensor.strides == nullptr) {
            view.stride[axis] = bytes;
        }
        fits = fits && multiply(bytes, std::max<int64_t>(extent, 1), bytes);
    }
    Reach unused;
    if (!fits || !reach(view, unused)) {
        refuse(name.text(), "shape " + view.shape.text() + " overflows 64 bits");
    }
}

void Call::place(const hal_tensor& tensor, const TensorName& name, View& view) const {
    if (tensor.device_id != call_.device) {
        refuse(name.text(), "it is on device " + std::to_string(tensor.device_id) + ", the call is for device " +
                                std::to_string(call_.device));
    }
    if (view.shape.count() == 0) {
        return;  // data may be anything
    }
    Reach bytes;
    int64_t begin = 0;
    int64_t end = 0;
    if (!reach(view, bytes) || tensor.byte_offset > INT64_MAX ||
        !add(static_cast<int64_t>(tensor.byte_offset), bytes.before, begin) ||
        !add(static_cast<int64_t>(tensor.byte_offset), bytes.behind, end)) {
        refuse(name.text(), "byte_offset " + std::to_string(tensor.byte_offset) + " overflows");
    }
    if (begin < 0 || (tensor.storage_bytes != 0 && static_cast<uint64_t>(end) > tensor.storage_bytes)) {
        refuse(name.text(), "its elements lie at bytes " + std::to_string(begin) + " to " + std::to_string(end) +
                                " of a storage of " + std::to_string(tensor.storage_bytes) + " bytes");
    }
    const hal_dptr first = tensor.data + static_cast<uint64_t>(begin);
    const auto size_bytes = static_cast<uint64_t>(end - begin);
    require_memory(first, size_bytes, name);
    view.data = reinterpret_cast<std::byte*>(tensor.data + tensor.byte_offset);
    const int64_t alignment = std::min<int64_t>(view.item_bytes & -view.item_bytes, 8);
    if (reinterpret_cast<uintptr_t>(view.data) % static_cast<uint64_t>(alignment) != 0) {
        refuse(name.text(), "its address is not a multiple of the element's " + std::to_string(alignment) + " bytes");
    }
}

void Call::expect_dtype(const View& view, std::string_view tensor, hal_dtype expected) const {
    if (view.dtype != expected) {
        refuse(tensor, "dtype is " + dtype_text(view.dtype) + ", expected " + dtype_text(expected));
    }
}

void Call::expect_shape(const View& view, std::string_view tensor, const Shape& expected) const {
    if (view.shape != expected) {
        refuse(tensor, "shape is " + view.shape.text() + ", expected " + expected.text());
    }
}

void Call::expect_apart(const View& output, const View& input, std::string_view tensor, bool same) const {
    if (output.data == nullptr || input.data == nullptr) {
        return;
    }
    const bool same_view = output.data == input.data && output.item_bytes == input.item_bytes &&
                           output.shape == input.shape && output.stride == input.stride;
    if (same && same_view) {
        return;
    }
    const Range a = range_of(output);
    const Range b = range_of(input);
    const bool gaps = !output.dense() || !input.dense();
    if (gaps ? output.data == input.data : a.begin < b.end && b.begin < a.end) {
        refuse(tensor, same ? "it overlaps output 0 without being the same tensor"
                            : "it overlaps output 0; this operator does "
                              "not run in place");
    }
}

std::byte* Call::workspace(uint64_t bytes) const {
    if (bytes == 0) {
        return nullptr;
    }
    if (call_.workspace_bytes < bytes) {
        refuse("", "a workspace of " + std::to_string(call_.workspace_bytes) + " bytes was given, the query asks for " +
                       std::to_string(bytes));
    }
    require_memory(call_.workspace, bytes, {"workspace"});
    if (call_.workspace % 64 != 0) {
        refuse("", "the workspace is not aligned to 64 bytes");
    }
    return reinterpret_cast<std::byte*>(call_.workspace);
}

int32_t Call::axis(int64_t value, int32_t rank) const {
    if (value < -rank || value >= rank) {
        refuse("", "axis " + std::to_string(value) + " is outside [" + std::to_string(-rank) + ", " +
                       std::to_string(rank) + ")");
    }
    return static_cast<int32_t>(value < 0 ? value + rank : value);
}

}  // namespace hal::shared
