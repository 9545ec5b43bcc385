#include "platforms.hpp"

#include <algorithm>

namespace hal::opencl {
namespace {

template <class T>
T device_number(const Api& api, cl_device_id device, cl_device_info what) {
    T value{};
    check(api.clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo");
    return value;
}

// The driver's text without what a text of ours may not have.
std::string clean(std::string text) {
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, ' ');
    const size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string device_text(const Api& api, cl_device_id device, cl_device_info what) {
    size_t size = 0;
    check(api.clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo");
    std::string text(size, '\0');
    check(api.clGetDeviceInfo(device, what, size, text.data(), nullptr), "clGetDeviceInfo");
    return clean(std::move(text));
}

std::string platform_text(const Api& api, cl_platform_id platform, cl_platform_info what) {
    size_t size = 0;
    check(api.clGetPlatformInfo(platform, what, 0, nullptr, &size), "clGetPlatformInfo");
    std::string text(size, '\0');
    check(api.clGetPlatformInfo(platform, what, size, text.data(), nullptr), "clGetPlatformInfo");
    return clean(std::move(text));
}

DeviceInfo read_info(const Api& api, cl_device_id id, const std::string& platform) {
    DeviceInfo info;
    info.platform = platform;
    info.name = device_text(api, id, CL_DEVICE_NAME);
    info.vendor = device_text(api, id, CL_DEVICE_VENDOR);
    info.driver_version = device_text(api, id, CL_DRIVER_VERSION);
    info.version = device_text(api, id, CL_DEVICE_VERSION);
    info.type = device_number<cl_device_type>(api, id, CL_DEVICE_TYPE);
    info.compute_units = device_number<cl_uint>(api, id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info.vector_bits = 32 * device_number<cl_uint>(api, id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    info.memory_bytes = device_number<cl_ulong>(api, id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info.max_allocation_bytes = device_number<cl_ulong>(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info.alignment_bytes = device_number<cl_uint>(api, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    info.has_f64 = device_number<cl_device_fp_config>(api, id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    if (info.version.rfind("OpenCL 1.", 0) != 0) {
        size_t il_size = 0;  // a query of 2.1, which 2.0 refuses
        info.has_spirv = api.clGetDeviceInfo(id, CL_DEVICE_IL_VERSION, 0, nullptr, &il_size) == CL_SUCCESS &&
                         il_size > 1 && device_text(api, id, CL_DEVICE_IL_VERSION).find("SPIR-V") != std::string::npos;
        info.has_priorities =
            device_text(api, id, CL_DEVICE_EXTENSIONS).find("cl_khr_priority_hints") != std::string::npos;
        info.svm = device_number<cl_device_svm_capabilities>(api, id, CL_DEVICE_SVM_CAPABILITIES);
    }
    return info;
}

std::vector<cl_device_id> device_ids(const Api& api, cl_platform_id platform) {
    cl_uint count = 0;
    const cl_int error = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    if (error == CL_DEVICE_NOT_FOUND) {
        return {};
    }
    check(error, "clGetDeviceIDs");
    std::vector<cl_device_id> ids(count);
    check(api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr), "clGetDeviceIDs");
    return ids;
}

bool chosen(const DeviceInfo& info, const Options& options) {
    return options.type == 0 || (info.type & options.type) != 0;
}

// The chosen devices of a platform, `repeat` times, each time with a context of their own.
void add_platform(const Api& api, cl_platform_id platform, const std::string& name, const Options& options,
                  std::vector<FoundDevice>& found) {
    std::vector<FoundDevice> devices;
    std::vector<cl_device_id> ids;
    for (cl_device_id id : device_ids(api, platform)) {
        if (DeviceInfo info = read_info(api, id, name); chosen(info, options)) {
            devices.push_back({id, std::move(info), nullptr});
            ids.push_back(id);
        }
    }
    for (int32_t i = 0; i < options.repeat && !ids.empty(); ++i) {
        const auto context = std::make_shared<Context>(api, ids);
        for (FoundDevice device : devices) {
            device.context = context;
            found.push_back(std::move(device));
        }
    }
}

std::vector<cl_platform_id> platform_ids(const Api& api) {
    constexpr cl_int no_platform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR, of the ICD loader
    cl_uint count = 0;
    const cl_int error = api.clGetPlatformIDs(0, nullptr, &count);
    if (error == no_platform || (error == CL_SUCCESS && count == 0)) {
        throw sdk::Error(HAL_ERROR_NO_DEVICE,
                         "libOpenCL knows no platform; install the driver of the device (its .icd file belongs to "
                         "/etc/OpenCL/vendors, or name it in OCL_ICD_VENDORS)");
    }
    check(error, "clGetPlatformIDs");
    std::vector<cl_platform_id> ids(count);
    check(api.clGetPlatformIDs(count, ids.data(), nullptr), "clGetPlatformIDs");
    return ids;
}

}  // namespace

Context::Context(const Api& api, const std::vector<cl_device_id>& devices) : api_(api) {
    cl_int error = CL_SUCCESS;
    context_ =
        api.clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &error);
    check(error, "clCreateContext");
}

std::vector<FoundDevice> find_devices(const Api& api, const Options& options, const hal_host* host) {
    std::vector<FoundDevice> found;
    std::string seen;
    for (cl_platform_id platform : platform_ids(api)) {
        std::string name = "a platform without a name";
        try {
            name = platform_text(api, platform, CL_PLATFORM_NAME);
            if (name.find(options.platform) != std::string::npos) {
                add_platform(api, platform, name, options, found);
            }
        } catch (const sdk::Error& error) {
            host->log(host, HAL_LOG_WARN, ("opencl: platform " + name + " is left out: " + error.what()).c_str());
            name.append(" (").append(error.what()).append(")");
        }
        seen.append(seen.empty() ? "" : ", ").append(name);
    }
    if (options.index >= 0) {
        const auto index = static_cast<size_t>(options.index);
        found = index < found.size() ? std::vector{found[index]} : std::vector<FoundDevice>();
    }
    if (found.empty()) {
        throw sdk::Error(HAL_ERROR_NO_DEVICE,
                         "no OpenCL device fits the options type, platform and index; platforms: " + seen);
    }
    return found;
}

}  // namespace hal::opencl
