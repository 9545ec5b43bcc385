// The operator that hal-conformance asks for to test sticky stream errors: work that fails. Only in a plug-in for
// tests.
#include "hal/sdk.hpp"
#include "instance.hpp"
#include "stream.hpp"

namespace hal::cpu {
namespace {

hal_status fault(Instance& instance, const hal_kernel_call& call) {
    enqueue(instance, call.device, call.stream, [] { return HAL_ERROR_KERNEL_FAULT; });
    return HAL_OK;
}

REGISTER_KERNEL("hal.test.fault", "cpu.ref", HAL_LAYOUT_ANY, HAL_DTYPE_ANY, sdk::kernel<fault>);

}  // namespace
}  // namespace hal::cpu
