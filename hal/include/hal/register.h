/* REGISTER_KERNEL (GB/T 45079-2024 table 5) for C and C++ plug-ins.
   The macro puts a constant into a section of the plug-in's own image; nothing runs at load, and no list is shared between
   plug-ins. hal_registered_kernels is the plug-in's register_kernel entry: put it into its kernel table.
   Example: REGISTER_KERNEL("Relu", "acme.npu", HAL_LAYOUT_ANY, HAL_F32, relu_f32); */
#ifndef HAL_REGISTER_H
#define HAL_REGISTER_H

#include "hal/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The five parameters of table 6. `fn` is a hal_kernel_fn that lives as long as the image. */
#define REGISTER_KERNEL(op_name, backend_name, layout_value, dtype_value, fn)                                          \
    HAL_REGISTER_KERNEL_AS(HAL_JOIN(hal_kernel_, __COUNTER__), op_name, backend_name, layout_value, dtype_value,   \
                           fn, .flags = 0)

/* The same with any of hal_kernel's later fields, in their order: ..., .priority = 1, .query = relu_query); */
#define REGISTER_KERNEL_WITH(op_name, backend_name, layout_value, dtype_value, fn, ...)                                \
    HAL_REGISTER_KERNEL_AS(HAL_JOIN(hal_kernel_, __COUNTER__), op_name, backend_name, layout_value, dtype_value,   \
                           fn, __VA_ARGS__)

#define HAL_JOIN(a, b) HAL_JOIN_(a, b)
#define HAL_JOIN_(a, b) a##b
#define HAL_REGISTER_KERNEL_AS(id, op_name, backend_name, layout_value, dtype_value, fn, ...)                          \
    HAL_REGISTER_KERNEL_ID(id, op_name, backend_name, layout_value, dtype_value, fn, __VA_ARGS__)
#define HAL_REGISTER_KERNEL_ID(id, op_name, backend_name, layout_value, dtype_value, fn, ...)                          \
    HAL_NO_WARNING_FOR_ABSENT_FIELDS                                                                                   \
    static const hal_kernel id = {.size = (uint32_t)sizeof(hal_kernel),                                                \
                                  .line = __LINE__,                                                                    \
                                  .op = op_name,                                                                       \
                                  .backend = backend_name,                                                             \
                                  .layout = layout_value,                                                              \
                                  .dtype = dtype_value,                                                                \
                                  .run = fn,                                                                           \
                                  .file = __FILE__,                                                                    \
                                  __VA_ARGS__};                                                                        \
    _Pragma("GCC diagnostic pop")                                                                                      \
    static const hal_kernel* const id##_entry __attribute__((section("hal_kernels"), used)) = &id
/* g++ -Wextra warns of fields that a designated initialiser leaves out; gcc and clang do not. */
#define HAL_NO_WARNING_FOR_ABSENT_FIELDS                                                                               \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")

/* Bounds of the section, named and made by the linker; weak because a plug-in may register nothing.
   NOLINTBEGIN(bugprone-reserved-identifier) */
extern const hal_kernel* const __start_hal_kernels[] __attribute__((weak, visibility("hidden")));
extern const hal_kernel* const __stop_hal_kernels[] __attribute__((weak, visibility("hidden")));
/* NOLINTEND(bugprone-reserved-identifier) */

/* Every kernel that this image registered. */
static inline hal_status hal_registered_kernels(hal_instance* self, const hal_kernel* const** out_kernels,
                                                uint64_t* out_count) {
    (void)self;
    if (out_kernels == NULL || out_count == NULL) {
        return HAL_ERROR_INVALID_ARGUMENT;
    }
    *out_kernels = __start_hal_kernels;
    *out_count = __start_hal_kernels == NULL ? 0 : (uint64_t)(__stop_hal_kernels - __start_hal_kernels);
    return HAL_OK;
}

#ifdef __cplusplus
}
#endif
#endif
