#include "serialize.hpp"

#include <algorithm>
#include <memory>

#include "error.hpp"
#include "kernel_rank.hpp"

namespace hal::loader {

namespace {

thread_local constinit uint32_t callback_depth = 0;  // host callbacks of serialised back ends on this thread

hal_status busy(const Serializer& layer) noexcept {
    return set_error(
        HAL_ERROR_REENTRANT, layer.id(),
        "a stream callback called this serialised backend while another thread is inside it; waiting could "
        "deadlock, so do the call outside the callback");
}

template <size_t Index, auto Member>
struct Serialized;
template <size_t Index, class Table, class... Args, hal_status (*Table::*Member)(hal_instance*, Args...)>
struct Serialized<Index, Member> {
    static hal_status call(hal_instance* self, Args... args) {
        Serializer& layer = Serializer::of(self);
        const auto lock = layer.enter();
        return lock.owns_lock() ? (layer.next().*member_of<Table>.*Member)(layer.next_instance(), args...)
                                : busy(layer);
    }
};

struct Callback {
    hal_stream_callback function;
    void* user_data;
};

void run_callback(void* user_data, hal_dev device, hal_stream stream, hal_status status) {
    const std::unique_ptr<Callback> callback(static_cast<Callback*>(user_data));
    ++callback_depth;
    callback->function(callback->user_data, device, stream, status);
    --callback_depth;
}

// Wraps the function, so that calls from inside it are known as such.
hal_status add_callback(hal_instance* self, hal_dev device, hal_stream stream, hal_stream_callback function,
                        void* user_data) {
    using Plain = Serialized<index_of("stream_add_callback"), &hal_stream_table::stream_add_callback>;
    if (function == nullptr) {
        return Plain::call(self, device, stream, function, user_data);  // the plug-in says what is wrong with it
    }
    std::unique_ptr<Callback> callback(new (std::nothrow) Callback{function, user_data});
    if (callback == nullptr) {
        return set_error(HAL_ERROR_OUT_OF_HOST_MEMORY, Serializer::of(self).id(), "out of host memory");
    }
    const hal_status status = Plain::call(self, device, stream, &run_callback, callback.get());
    if (status == HAL_OK) {
        static_cast<void>(callback.release());  // run_callback frees it, and runs exactly once
    }
    return status;
}

constexpr Tables make_serialized() {
    Tables set = every_slot<Serialized>();
    set.stream.stream_add_callback = &add_callback;
    return set;
}

}  // namespace

constinit const Tables serialized_tables = make_serialized();

std::unique_lock<std::recursive_mutex> Serializer::enter() {
    return callback_depth == 0 ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::try_to_lock);
}

// The functions of a wrapped kernel: `call->instance` is this layer's, the original wants the plug-in's.
struct WrappedKernel {
    template <class Function, class... Args>
    static hal_status forward(Function hal_kernel::*function, const hal_kernel_call* call, Args... args) {
        if (call == nullptr || call->kernel == nullptr) {
            return set_error(HAL_ERROR_INVALID_ARGUMENT, "",
                             call == nullptr ? "the kernel call is NULL" : "the kernel call names no kernel");
        }
        const auto& wrapped = *static_cast<const Serializer::Wrapped*>(call->kernel);
        Serializer& layer = *wrapped.owner;
        if (call->size > sizeof(hal_kernel_call)) {
            return set_error(
                HAL_ERROR_ABI, layer.id(),
                "the kernel call is longer than this loader knows; a serialised backend cannot pass it on");
        }
        hal_kernel_call inner{};
        std::copy_n(reinterpret_cast<const char*>(call), call->size, reinterpret_cast<char*>(&inner));
        inner.instance = layer.next_instance();
        inner.kernel = wrapped.original;
        const auto lock = layer.enter();
        return lock.owns_lock() ? (wrapped.original->*function)(&inner, args...) : busy(layer);
    }

    static hal_status run(const hal_kernel_call* call) { return forward(&hal_kernel::run, call); }
    static hal_status query(const hal_kernel_call* call, uint64_t* out_workspace_bytes) {
        return forward(&hal_kernel::query, call, out_workspace_bytes);
    }
    static hal_status infer(const hal_kernel_call* call, hal_shape* out_shapes, uint32_t shape_count) {
        return forward(&hal_kernel::infer, call, out_shapes, shape_count);
    }
};

std::vector<const hal_kernel*> Serializer::wrap(std::span<const hal_kernel* const> kernels) {
    std::vector<const hal_kernel*> result;
    result.reserve(kernels.size());
    const std::lock_guard lock(wrapping_);
    for (const hal_kernel* kernel : kernels) {
        if (!kernel_defect(id_, kernel).empty()) {
            result.push_back(kernel);
            continue;
        }
        hal_kernel copy = complete_kernel(*kernel);
        copy.size = sizeof(hal_kernel);
        copy.run = &WrappedKernel::run;
        copy.query = copy.query == nullptr ? nullptr : &WrappedKernel::query;
        copy.infer = copy.infer == nullptr ? nullptr : &WrappedKernel::infer;
        result.push_back(&wrapped_.emplace_back(Wrapped{copy, kernel, this}));
    }
    return result;
}

}  // namespace hal::loader
