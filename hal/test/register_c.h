/* What register_c.c shows to the test. */
#ifndef HAL_TEST_REGISTER_C_H
#define HAL_TEST_REGISTER_C_H

#include "hal/register.h"

#ifdef __cplusplus
extern "C" {
#endif

hal_kernel_fn c_relu(void);
uint32_t c_relu_line(void);
hal_status c_registered(const hal_kernel* const** out_kernels, uint64_t* out_count);

#ifdef __cplusplus
}
#endif
#endif
