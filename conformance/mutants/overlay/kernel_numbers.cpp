// Mutants of table 5: what the kernels compute.
#include <cmath>
#include <cstring>

#include "kernel_list.hpp"

namespace hal::mutants {

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

// Cuts the low half off instead of rounding to the nearest.
void kern_cast_cuts(Plugin& plugin) {
    replace_run(plugin, "Cast", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status != HAL_OK || !well_formed(call, 1) || !is_f32(*call->inputs[0]) ||
            call->outputs[0]->dtype != HAL_BF16 || call->inputs[0]->strides != nullptr) {
            return status;
        }
        return behind(*call, [count = count_of(*call->outputs[0]), from = data_of<uint32_t>(*call->inputs[0]),
                              to = data_of<uint16_t>(*call->outputs[0])] {
            for (int64_t i = 0; i < count; ++i) {
                to[i] = static_cast<uint16_t>(from[i] >> 16U);
            }
        });
    });
}

// As the fast exponential of a graphics library.
void kern_exp_fast(Plugin& plugin) {
    replace_run(plugin, "Exp", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status != HAL_OK || !well_formed(call, 1) || !is_f32(*call->outputs[0])) {
            return status;
        }
        return behind(*call, [count = count_of(*call->outputs[0]), to = data_of<float>(*call->outputs[0])] {
            for (int64_t i = 0; i < count; ++i) {
                to[i] *= 1.0F + 1e-4F;
            }
        });
    });
}

// A sum begins with what a sum before it has left.
void kern_sum_not_cleared(Plugin& plugin) {
    replace_run(plugin, "ReduceSum", [](const hal_kernel_call* call) {
        const hal_status status = run_base(*call);
        if (status != HAL_OK || !well_formed(call, 1) || !is_f32(*call->outputs[0])) {
            return status;
        }
        return behind(*call, [count = count_of(*call->outputs[0]), to = data_of<float>(*call->outputs[0])] {
            for (int64_t i = count - 1; i > 0; --i) {
                to[i] += to[i - 1];
            }
            if (count == 1) {
                to[0] *= 2;
            }
        });
    });
}

}  // namespace hal::mutants
