// Kernels made by hand, for the tests of the registry.
#pragma once

#include "hal/loader.h"

namespace hal::loader::test {

inline hal_status nothing(const hal_kernel_call*) {
    return HAL_OK;
}

// A well-formed kernel of backend "acme.npu"; tests change one field.
inline hal_kernel make_kernel(const char* op, hal_dtype dtype = HAL_F32, hal_layout layout = HAL_LAYOUT_ANY,
                              uint32_t line = 1) {
    hal_kernel kernel{};
    kernel.size = sizeof kernel;
    kernel.line = line;
    kernel.op = op;
    kernel.backend = "acme.npu";
    kernel.layout = layout;
    kernel.dtype = dtype;
    kernel.run = nothing;
    kernel.file = "acme.cpp";
    return kernel;
}

inline hal_kernel_key make_key(const char* op, hal_dtype dtype = HAL_F32, hal_layout layout = HAL_LAYOUT_ANY) {
    hal_kernel_key key{};
    key.size = sizeof key;
    key.op = op;
    key.dtype = dtype;
    key.layout = layout;
    return key;
}

}  // namespace hal::loader::test
