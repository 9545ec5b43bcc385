// A driver of OpenCL that names itself and fails at everything else: its platform is there, its devices are not to be
// had.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <cstring>
#include <string_view>

namespace {

cl_int get_platform_info(cl_platform_id, cl_platform_info what, size_t capacity, void* value, size_t* out_size) {
    const std::string_view text = what == CL_PLATFORM_NAME             ? "Broken platform"
                                  : what == CL_PLATFORM_EXTENSIONS     ? "cl_khr_icd"
                                  : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "BROKEN"
                                  : what == CL_PLATFORM_VERSION        ? "OpenCL 1.2 broken"
                                  : what == CL_PLATFORM_PROFILE        ? "FULL_PROFILE"
                                                                       : "test";
    if (out_size != nullptr) {
        *out_size = text.size() + 1;
    }
    if (value != nullptr) {
        if (capacity < text.size() + 1) {
            return CL_INVALID_VALUE;
        }
        std::memcpy(value, text.data(), text.size() + 1);
    }
    return CL_SUCCESS;
}

cl_int get_device_ids(cl_platform_id, cl_device_type, cl_uint, cl_device_id*, cl_uint*) {
    return CL_OUT_OF_HOST_MEMORY;
}

cl_icd_dispatch dispatch{};
// What an ICD loader expects behind a cl_platform_id.
struct Platform {
    const cl_icd_dispatch* table = &dispatch;
} platform;

cl_int platform_ids(cl_uint capacity, cl_platform_id* platforms, cl_uint* out_count) {
    dispatch.clGetPlatformInfo = get_platform_info;
    dispatch.clGetDeviceIDs = get_device_ids;
    if (out_count != nullptr) {
        *out_count = 1;
    }
    if (platforms != nullptr && capacity > 0) {
        platforms[0] = reinterpret_cast<cl_platform_id>(&platform);
    }
    return CL_SUCCESS;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(const char* name) {
    const std::string_view wanted(name);
    return wanted == "clIcdGetPlatformIDsKHR" ? reinterpret_cast<void*>(platform_ids)
           : wanted == "clGetPlatformInfo"    ? reinterpret_cast<void*>(get_platform_info)
                                              : nullptr;
}
