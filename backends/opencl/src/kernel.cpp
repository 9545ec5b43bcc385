// Table 5: the operators of kernels/ and the user's.
#include "hal/register.h"
#include "hal/sdk.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl {
namespace {

// Without an instance only what is ours is known.
hal_status register_kernel(hal_instance* self, const hal_kernel* const** out_kernels, uint64_t* out_count) {
    if (self == nullptr || out_kernels == nullptr || out_count == nullptr) {
        return hal_registered_kernels(self, out_kernels, out_count);
    }
    const auto& kernels = reinterpret_cast<Instance*>(self)->kernels();
    *out_kernels = kernels.data();
    *out_count = kernels.size();
    return HAL_OK;
}

}  // namespace

const hal_kernel_table kernel_table = {
    .header = sdk::header<hal_kernel_table>(HAL_TABLE_kernel),
    .register_kernel = register_kernel,
};

}  // namespace hal::opencl
