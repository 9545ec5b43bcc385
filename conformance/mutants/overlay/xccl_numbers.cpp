// Mutants of table 10: reductions that are wrong only for numbers of some kind.
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "xccl.hpp"

namespace hal::mutants {
namespace {

using Change = std::function<float(float)>;

// The base reduces a copy of the data, changed. Waits for what brings them.
hal_status reduce_changed(hal_instance* self, const Change& change, hal_dptr send, hal_dptr recv, uint64_t count,
                          hal_reduce_op op, hal_comm comm, hal_stream stream) {
    const hal_dev device = place_of(self, comm).device;
    drain(self, device, stream);
    std::vector<float> data(count);
    const uint64_t bytes = count * sizeof(float);
    (void)base.memory.memory_copy_d2h(self, device, data.data(), send, bytes);
    for (float& one : data) {
        one = change(one);
    }
    const Scratch changed(self, device, stream, bytes);
    drain(self, device, stream);
    (void)base.memory.memory_copy_h2d(self, device, changed.ptr(), data.data(), bytes);
    return base.xccl.xccl_all_reduce(self, changed.ptr(), recv, count, HAL_F32, op, comm, stream);
}

}  // namespace

// As "a > b ? a : b" makes of it: NaN of rank 0 is gone with the first comparison, of the last one it stays.
void xccl_nan_of_first_lost(Plugin& plugin) {
    with_places(plugin);
    plugin.xccl.xccl_all_reduce = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                     hal_reduce_op op, hal_comm comm, hal_stream stream) {
        const bool extreme = op == HAL_REDUCE_MAX || op == HAL_REDUCE_MIN;
        if (!extreme || type != HAL_F32 || count == 0 || place_of(self, comm).rank != 0) {
            return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
        }
        constexpr float infinity = std::numeric_limits<float>::infinity();
        const float least = op == HAL_REDUCE_MAX ? -infinity : infinity;
        const Change change = [least](float one) { return std::isnan(one) ? least : one; };
        return reduce_changed(self, change, send, recv, count, op, comm, stream);
    };
}

// As a switch of the network adds: whole numbers are exact, the rest is cut off.
void xccl_sum_in_fixed_point(Plugin& plugin) {
    with_places(plugin);
    plugin.xccl.xccl_all_reduce = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                     hal_reduce_op op, hal_comm comm, hal_stream stream) {
        if (op != HAL_REDUCE_SUM || type != HAL_F32 || count == 0) {
            return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
        }
        const Change change = [](float one) { return std::nearbyint(one * 256) / 256; };
        return reduce_changed(self, change, send, recv, count, op, comm, stream);
    };
}

}  // namespace hal::mutants
