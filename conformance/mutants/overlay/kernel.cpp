// Mutants of tables 5 and 6: the registered kernels, and how a launch behaves.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "overlay.hpp"

namespace hal::mutants {
namespace {

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
List list;

hal_status hand_out(hal_instance* self, const hal_kernel* const** out_kernels, uint64_t* out_count) {
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
hal_status run_base(const hal_kernel_call& call) {
    hal_kernel_call real = call;
    real.kernel = list.original(call.kernel);
    return real.kernel->run(&real);
}

// Replaces the function of every kernel of this name.
void replace_run(Plugin& plugin, std::string_view op, hal_kernel_fn run) {
    change_list(plugin, [&] {
        for (hal_kernel* kernel : list.named(op)) {
            kernel->run = run;
        }
    });
}

bool well_formed(const hal_kernel_call* call, uint32_t inputs) {
    return call != nullptr && call->input_count == inputs && call->output_count == 1 && call->inputs != nullptr &&
           call->outputs != nullptr && call->device >= 0;
}

template <class T>
T* data_of(const hal_tensor& tensor) {
    return reinterpret_cast<T*>(tensor.data + tensor.byte_offset);
}
int64_t count_of(const hal_tensor& tensor) {
    int64_t count = 1;
    for (int32_t i = 0; i < tensor.ndim; ++i) {
        count *= tensor.shape[i];
    }
    return count;
}
bool is_f32(const hal_tensor& tensor) {
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

}  // namespace

// ---- The list ----

void kern_duplicate(Plugin& plugin) {
    change_list(plugin, [] {
        list.originals.push_back(list.originals.front());
        list.kernels.push_back(list.kernels.front());
    });
}

void kern_wrong_backend_name(Plugin& plugin) {
    change_list(plugin, [] { list.kernels.front().backend = "cpu"; });
}

void kern_empty_name(Plugin& plugin) {
    change_list(plugin, [] { list.kernels.back().op = ""; });
}

void kern_without_function(Plugin& plugin) {
    change_list(plugin, [] { list.kernels.back().run = nullptr; });
}

void kern_list_wanders(Plugin& plugin) {
    change_list(plugin, [] {});
    plugin.kernel.register_kernel = [](hal_instance* self, const hal_kernel* const** out_kernels, uint64_t* out_count) {
        static std::atomic<unsigned> calls{0};
        const hal_status status = hand_out(self, out_kernels, out_count);
        if (status == HAL_OK && calls++ % 2 == 1) {
            --*out_count;
        }
        return status;
    };
}

void kern_null_not_refused(Plugin& plugin) {
    plugin.kernel.register_kernel = [](hal_instance* self, const hal_kernel* const** out_kernels, uint64_t* out_count) {
        const hal_kernel* const* unseen = nullptr;
        uint64_t count = 0;
        return base.kernel.register_kernel(self, out_kernels == nullptr ? &unseen : out_kernels,
                                           out_count == nullptr ? &count : out_count);
    };
}

void kern_wrong_dtype(Plugin& plugin) {
    // The function for doubles is registered for floats.
    change_list(plugin, [] {
        const hal_kernel* doubles = nullptr;
        for (const hal_kernel* kernel : list.named("Add")) {
            doubles = kernel->dtype == HAL_F64 ? kernel : doubles;
        }
        for (hal_kernel* kernel : list.named("Add")) {
            if (kernel->dtype == HAL_F32 && doubles != nullptr) {
                kernel->run = doubles->run;
                kernel->signature = doubles->signature;
            }
        }
    });
}

// ---- A launch ----

void kern_wrong_stream(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        hal_kernel_call other = *call;
        other.stream = nullptr;
        return run_base(other);
    });
}

void kern_waits(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status == HAL_OK) {
            drain(call->instance, call->device, call->stream);
        }
        return status;
    });
}

void kern_attr_dropped(Plugin& plugin) {
    replace_run(plugin, "Fill", [](const hal_kernel_call* call) {
        hal_kernel_call other = *call;
        other.attribute_count = 0;
        return run_base(other);
    });
}

// Reads the caller's arrays when the work runs.
void kern_keeps_call(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        if (!well_formed(call, 2) || !is_f32(*call->inputs[0]) || count_of(*call->inputs[0]) != 4 ||
            count_of(*call->outputs[0]) != 4) {
            return run_base(*call);
        }
        return behind(*call, [=, inputs = call->inputs, outputs = call->outputs] {
            for (int64_t i = 0; i < 4; ++i) {
                data_of<float>(*outputs[0])[i] = data_of<float>(*inputs[0])[i] + data_of<float>(*inputs[1])[i];
            }
        });
    });
}

void kern_writes_input(Plugin& plugin) {
    replace_run(plugin, "Mul", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status == HAL_OK && well_formed(call, 2) && is_f32(*call->inputs[0])) {
            return behind(*call, [first = data_of<float>(*call->inputs[0])] { first[0] = 0; });
        }
        return status;
    });
}

void kern_last_element_lost(Plugin& plugin) {
    replace_run(plugin, "Relu", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status == HAL_OK && well_formed(call, 1) && is_f32(*call->outputs[0])) {
            const int64_t count = count_of(*call->outputs[0]);
            return behind(*call, [last = data_of<float>(*call->outputs[0]) + count - 1, count] {
                if (count > 0) {
                    *last = 12345.0F;
                }
            });
        }
        return status;
    });
}

void kern_one_ulp(Plugin& plugin) {
    replace_run(plugin, "Sub", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status == HAL_OK && well_formed(call, 2) && is_f32(*call->outputs[0]) && count_of(*call->outputs[0]) > 5) {
            return behind(*call,
                          [fifth = data_of<float>(*call->outputs[0]) + 5] { *fifth = std::nextafter(*fifth, 1e30F); });
        }
        return status;
    });
}

void kern_broadcast_ignored(Plugin& plugin) {
    replace_run(plugin, "Max", [](const hal_kernel_call* call) {
        if (well_formed(call, 2) && count_of(*call->inputs[0]) != count_of(*call->inputs[1])) {
            hal_kernel_call other = *call;
            const hal_tensor* const twice[] = {call->inputs[0], call->inputs[0]};
            other.inputs = twice;
            return run_base(other);
        }
        return run_base(*call);
    });
}

void kern_bad_calls_accepted(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        return status == HAL_ERROR_INVALID_ARGUMENT ? HAL_OK : status;
    });
}

void kern_storage_not_checked(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        if (!well_formed(call, 2) || call->outputs[0] == nullptr) {
            return run_base(*call);
        }
        hal_kernel_call other = *call;
        hal_tensor output = *call->outputs[0];
        output.storage_bytes = 0;
        const hal_tensor* const outputs[] = {&output};
        other.outputs = outputs;
        return run_base(other);
    });
}

void kern_error_without_text(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status < 0) {
            (void)refuse(call->instance, status, "");
        }
        return status;
    });
}

void kern_zero_elements_refused(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        return well_formed(call, 2) && call->inputs[0] != nullptr && count_of(*call->inputs[0]) == 0
                   ? refuse(call->instance, HAL_ERROR_INVALID_ARGUMENT, "nothing to add")
                   : run_base(*call);
    });
}

// ---- Numbers ----

void kern_copy_clears_the_middle(Plugin& plugin) {
    replace_run(plugin, "Copy", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status == HAL_OK && well_formed(call, 1) && is_f32(*call->outputs[0]) && count_of(*call->outputs[0]) > 2) {
            const int64_t middle = count_of(*call->outputs[0]) / 2;
            return behind(*call, [place = data_of<float>(*call->outputs[0]) + middle] { *place = 0; });
        }
        return status;
    });
}

// The last product of each sum is left out.
void kern_matmul_short(Plugin& plugin) {
    replace_run(plugin, "MatMul", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status != HAL_OK || !well_formed(call, 2) || !is_f32(*call->inputs[0]) || call->inputs[0]->ndim != 2 ||
            call->inputs[1]->ndim != 2) {
            return status;
        }
        const int64_t k = call->inputs[0]->shape[1];
        const int64_t n = call->inputs[1]->shape[1];
        const int64_t count = count_of(*call->outputs[0]);
        return behind(*call, [=, a = data_of<float>(*call->inputs[0]), b = data_of<float>(*call->inputs[1]),
                              c = data_of<float>(*call->outputs[0])] {
            for (int64_t i = 0; i < count && k > 0; ++i) {
                c[i] -= a[i / n * k + k - 1] * b[(k - 1) * n + i % n];
            }
        });
    });
}

// exp(x) / sum without the largest subtracted first: overflows.
void kern_softmax_no_max(Plugin& plugin) {
    replace_run(plugin, "Softmax", [](const hal_kernel_call* call) {
        if (!well_formed(call, 1) || !is_f32(*call->inputs[0]) || call->attribute_count != 0 ||
            call->inputs[0]->strides != nullptr || call->inputs[0]->ndim < 1) {
            return run_base(*call);
        }
        const hal_tensor& in = *call->inputs[0];
        const int64_t row = in.shape[in.ndim - 1];
        const int64_t count = count_of(in);
        return behind(*call, [=, from = data_of<float>(in), to = data_of<float>(*call->outputs[0])] {
            for (int64_t begin = 0; begin < count; begin += row) {
                float sum = 0;
                for (int64_t i = begin; i < begin + row; ++i) {
                    sum += std::exp(from[i]);
                }
                for (int64_t i = begin; i < begin + row; ++i) {
                    to[i] = std::exp(from[i]) / sum;
                }
            }
        });
    });
}

// Multiplies with the 10 fraction bits of TF32.
void kern_matmul_tf32(Plugin& plugin) {
    replace_run(plugin, "MatMul", [](const hal_kernel_call* call) {
        if (!well_formed(call, 2) || !is_f32(*call->inputs[0]) || call->inputs[0]->ndim != 2 ||
            call->inputs[1]->ndim != 2 || call->inputs[0]->strides != nullptr || call->inputs[1]->strides != nullptr) {
            return run_base(*call);
        }
        const int64_t m = call->inputs[0]->shape[0];
        const int64_t k = call->inputs[0]->shape[1];
        const int64_t n = call->inputs[1]->shape[1];
        const auto rounded = [](float value) {
            uint32_t bits = 0;
            std::memcpy(&bits, &value, 4);
            bits &= 0xFFFFE000U;
            std::memcpy(&value, &bits, 4);
            return value;
        };
        return behind(*call, [=, a = data_of<float>(*call->inputs[0]), b = data_of<float>(*call->inputs[1]),
                              c = data_of<float>(*call->outputs[0])] {
            for (int64_t i = 0; i < m * n; ++i) {
                float sum = 0;
                for (int64_t j = 0; j < k; ++j) {
                    sum += rounded(a[i / n * k + j]) * rounded(b[j * n + i % n]);
                }
                c[i] = sum;
            }
        });
    });
}

}  // namespace hal::mutants
