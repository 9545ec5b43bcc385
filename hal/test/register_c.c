/* A C file of a plug-in that registers kernels. */
#include "register_c.h"

static hal_status relu(const hal_kernel_call* call) {
    return call == NULL ? HAL_ERROR_INVALID_ARGUMENT : HAL_OK;
}

static hal_status query(const hal_kernel_call* call, uint64_t* out_workspace_bytes) {
    (void)call;
    *out_workspace_bytes = 4096;
    return HAL_OK;
}

static const hal_dtype signature[] = {HAL_F16, HAL_DTYPE_ANY, HAL_F32};

/* clang-format off */
enum { line_of_c_relu = __LINE__ + 1 };
REGISTER_KERNEL("CRelu", "acme.npu", HAL_LAYOUT_NHWC, HAL_F32, relu);
REGISTER_KERNEL_WITH("CConv", "acme.npu", HAL_LAYOUT_ANY, HAL_F16, relu, .flags = HAL_KERNEL_STRIDED, .priority = -3,
                     .query = query, .arch = "v2", .signature = signature, .signature_count = 3, .op_version_min = 1,
                     .op_version_max = 13, .user_data = 77);
/* Two on one line, as a macro that repeats itself for types makes them. */
REGISTER_KERNEL("CTwo", "acme.npu", HAL_LAYOUT_ANY, HAL_I8, relu); REGISTER_KERNEL("CTwo", "acme.npu", HAL_LAYOUT_ANY, HAL_U8, relu);

hal_kernel_fn c_relu(void) {
    return relu;
}
uint32_t c_relu_line(void) {
    return line_of_c_relu;
}

hal_status c_registered(const hal_kernel* const** out_kernels, uint64_t* out_count) {
    return hal_registered_kernels(NULL, out_kernels, out_count);
}
