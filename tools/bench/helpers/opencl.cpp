// The same as hal-bench-device for OpenCL: starts, finds a device of the first platform and ends.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

int main() {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    return clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS &&
                   clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS
               ? 0
               : 1;
}
