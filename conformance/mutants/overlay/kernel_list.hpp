// What mutants of kernels share: a copy of the base's list, whose functions they replace, and work behind a launch.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "overlay.hpp"

namespace hal::mutants {

// The base's kernels, to be spoilt, and the list that is handed out. Borrowed until the back end is closed, hence
// static.
struct List {
    std::vector<const hal_kernel*> originals;
    std::vector<hal_kernel> kernels;
    std::vector<const hal_kernel*> pointers;

    // The kernel of the base behind one of ours.
    [[nodiscard]] const hal_kernel* original(const hal_kernel* ours) const {
        return originals[static_cast<size_t>(ours - kernels.data())];
    }
    [[nodiscard]] std::vector<hal_kernel*> named(std::string_view op) {
        std::vector<hal_kernel*> found;
        for (hal_kernel& kernel : kernels) {
            if (op == kernel.op) {
                found.push_back(&kernel);
            }
        }
        return found;
    }
};
inline List list;

inline hal_status hand_out(hal_instance* self, const hal_kernel* const** out_kernels, uint64_t* out_count) {
    const hal_status status = base.kernel.register_kernel(self, out_kernels, out_count);
    if (status == HAL_OK) {
        *out_kernels = list.pointers.data();
        *out_count = list.pointers.size();
    }
    return status;
}

template <class Change>
void change_list(Plugin& plugin, Change change) {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    (void)base.kernel.register_kernel(nullptr, &kernels, &count);  // C plug-ins need no instance for it
    for (uint64_t i = 0; i < count; ++i) {
        list.originals.push_back(kernels[i]);
        list.kernels.push_back(*kernels[i]);
    }
    change();
    for (const hal_kernel& kernel : list.kernels) {
        list.pointers.push_back(&kernel);
    }
    plugin.kernel.register_kernel = hand_out;
}

// Runs the base's kernel for a call of ours.
inline hal_status run_base(const hal_kernel_call& call) {
    hal_kernel_call real = call;
    real.kernel = list.original(call.kernel);
    return real.kernel->run(&real);
}

// Replaces the function of every kernel of this name.
inline void replace_run(Plugin& plugin, std::string_view op, hal_kernel_fn run) {
    change_list(plugin, [&] {
        for (hal_kernel* kernel : list.named(op)) {
            kernel->run = run;
        }
    });
}

inline bool well_formed(const hal_kernel_call* call, uint32_t inputs) {
    return call != nullptr && call->input_count == inputs && call->output_count == 1 && call->inputs != nullptr &&
           call->outputs != nullptr && call->device >= 0;
}

template <class T>
T* data_of(const hal_tensor& tensor) {
    return reinterpret_cast<T*>(tensor.data + tensor.byte_offset);
}
inline int64_t count_of(const hal_tensor& tensor) {
    int64_t count = 1;
    for (int32_t i = 0; i < tensor.ndim; ++i) {
        count *= tensor.shape[i];
    }
    return count;
}
inline bool is_f32(const hal_tensor& tensor) {
    return tensor.dtype == HAL_F32;
}

// Enqueues f behind the work of the call's stream.
template <class F>
hal_status behind(const hal_kernel_call& call, F f) {
    auto* const copy = new F(std::move(f));
    const auto run = [](void* argument, hal_dev, hal_stream, hal_status) {
        F* const work = static_cast<F*>(argument);
        (*work)();
        delete work;
    };
    return base.stream.stream_add_callback(call.instance, call.device, call.stream, run, copy);
}

}  // namespace hal::mutants
