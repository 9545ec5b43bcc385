#include "launch.hpp"

#include <algorithm>

namespace hal::opencl {
namespace {

// A multiple of the widths of vector units and wavefronts; other sizes were not tried.
constexpr size_t items_per_group = 256;

}  // namespace

Range Range::groups(const Kernel& kernel, int64_t count, int64_t work) noexcept {
    size_t local = 1;
    while (local * 2 <= std::min<size_t>(kernel.most_items, 64) && static_cast<int64_t>(local) * 2 <= work) {
        local *= 2;
    }
    return {{static_cast<size_t>(count) * local, 1}, {local, 1}};
}

cl_int detail::run(const Api& api, cl_command_queue queue, const Kernel& kernel, Range range, cl_event* out) {
    if (range.local[0] == 0) {
        range.local[0] = std::min(kernel.most_items, items_per_group);
        range.global[0] = (range.global[0] + range.local[0] - 1) / range.local[0] * range.local[0];
    }
    return api.clEnqueueNDRangeKernel(queue, kernel.kernel, range.dimensions, nullptr, range.global.data(),
                                      range.local.data(), 0, nullptr, out);
}

void enqueue_nothing(const Call& call) {
    const hal_kernel_call& raw = call.raw();
    find_stream(call.device().instance(), raw.device, raw.stream).require(raw.stream);
}

std::string type_option(hal_dtype dtype) {
    return "-w -D T=" + shared::dtype_text(dtype);
}

}  // namespace hal::opencl
