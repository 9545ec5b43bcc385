// Which operators a driver's devices are said to have.
#include "driver.hpp"

namespace hal::opencl::test {
namespace {

decltype(Api::clGetDeviceInfo) real_device_info;

cl_int CL_API_CALL without_f64(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* out_size) {
    const cl_int error = real_device_info(device, what, size, value, out_size);
    if (error == CL_SUCCESS && what == CL_DEVICE_DOUBLE_FP_CONFIG && value != nullptr) {
        *static_cast<cl_device_fp_config*>(value) = 0;
    }
    return error;
}

uint64_t count_of_f64(Driver& driver) {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    REQUIRE(kernel_table.register_kernel(driver.self(), &kernels, &count) == HAL_OK);
    REQUIRE(count > 0);
    return static_cast<uint64_t>(
        std::count_if(kernels, kernels + count, [](const hal_kernel* kernel) { return kernel->dtype == HAL_F64; }));
}

TEST_CASE("devices without f64 have no operator of it") {
    Driver driver;
    if (!driver) {
        return;
    }
    CHECK(count_of_f64(driver) > 0);
    driver.instance().finalize();
    real_device_info = driver.api().clGetDeviceInfo;
    driver.api().clGetDeviceInfo = without_f64;
    driver.instance().initialize();
    CHECK(count_of_f64(driver) == 0);
    driver.api().clGetDeviceInfo = real_device_info;
}

}  // namespace
}  // namespace hal::opencl::test
