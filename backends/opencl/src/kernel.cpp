// Table 5: the operators of kernels/.
#include "hal/register.h"
#include "hal/sdk.hpp"
#include "tables.hpp"

namespace hal::opencl {

const hal_kernel_table kernel_table = {
    .header = sdk::header<hal_kernel_table>(HAL_TABLE_kernel),
    .register_kernel = hal_registered_kernels,
};

}  // namespace hal::opencl
