// Mutants of tables 5 and 6: the registered kernels, and how a launch behaves. What they compute: kernel_numbers.cpp.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "kernel_list.hpp"

namespace hal::mutants {

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

// ---- Promises of a kernel ----

// The query says yes to every call, the function takes vectors alone.
void kern_query_says_yes(Plugin& plugin) {
    replace_run(plugin, "Relu", [](const hal_kernel_call* call) {
        return well_formed(call, 1) && call->inputs[0] != nullptr && call->inputs[0]->ndim > 1
                   ? refuse(call->instance, HAL_ERROR_UNSUPPORTED, "vectors only")
                   : run_base(*call);
    });
}

// One byte more than was asked for is used.
void kern_workspace_overrun(Plugin& plugin) {
    static hal_kernel_query_fn real_query = nullptr;
    change_list(plugin, [] {
        for (hal_kernel* kernel : list.named("MatMul")) {
            real_query = kernel->query;
            kernel->query = [](const hal_kernel_call* call, uint64_t* out) {
                const hal_status status = real_query == nullptr ? HAL_OK : real_query(call, out);
                if (status == HAL_OK) {
                    *out += 64;
                }
                return status;
            };
            kernel->run = [](const hal_kernel_call* call) {
                const hal_status status = run_base(*call);
                if (status != HAL_OK || call->workspace == 0) {
                    return status;
                }
                return behind(
                    *call, [end = reinterpret_cast<uint8_t*>(call->workspace + call->workspace_bytes)] { *end ^= 1U; });
            };
        }
    });
}

// Reads its first input again after it has written the output, which may lie in the same place.
void kern_in_place_twice(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        const bool aliased = status == HAL_OK && well_formed(call, 2) &&
                             data_of<void>(*call->inputs[0]) == data_of<void>(*call->outputs[0]);
        return aliased ? run_base(*call) : status;
    });
}

// Takes every tensor for one whose rows follow each other.
void kern_strides_ignored(Plugin& plugin) {
    replace_run(plugin, "Copy", [](const hal_kernel_call* call) {
        if (!well_formed(call, 1) || call->inputs[0] == nullptr) {
            return run_base(*call);
        }
        hal_kernel_call other = *call;
        hal_tensor input = *call->inputs[0];
        input.strides = nullptr;
        const hal_tensor* const inputs[] = {&input};
        other.inputs = inputs;
        return run_base(other);
    });
}

// The result passes through a place that all streams use.
void kern_scratch_shared(Plugin& plugin) {
    static std::array<float, 4096> scratch;
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status != HAL_OK || !well_formed(call, 2) || !is_f32(*call->outputs[0])) {
            return status;
        }
        const auto count = static_cast<size_t>(count_of(*call->outputs[0]));
        return behind(*call, [to = data_of<float>(*call->outputs[0]), size = std::min(count, scratch.size()) * 4] {
            std::memcpy(scratch.data(), to, size);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            std::memcpy(to, scratch.data(), size);
        });
    });
}

// ---- Shapes ----

void kern_scalar_is_empty(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        const bool scalar = well_formed(call, 2) && call->inputs[1] != nullptr && call->inputs[1]->ndim == 0;
        return scalar ? HAL_OK : run_base(*call);
    });
}

void kern_rank_of_five(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        return well_formed(call, 2) && call->outputs[0] != nullptr && call->outputs[0]->ndim > 5
                   ? refuse(call->instance, HAL_ERROR_UNSUPPORTED, "more than five dimensions")
                   : run_base(*call);
    });
}

// Stretches one of the two inputs, never both.
void kern_broadcast_one_way(Plugin& plugin) {
    replace_run(plugin, "Add", [](const hal_kernel_call* call) {
        if (!well_formed(call, 2) || call->outputs[0] == nullptr) {
            return run_base(*call);
        }
        const int64_t count = count_of(*call->outputs[0]);
        return count_of(*call->inputs[0]) != count && count_of(*call->inputs[1]) != count
                   ? refuse(call->instance, HAL_ERROR_INVALID_ARGUMENT, "neither input has the shape of the output")
                   : run_base(*call);
    });
}

}  // namespace hal::mutants
