// Mutants of error texts: what the host is told when a call is refused.
#include <sched.h>

#include <atomic>

#include "overlay.hpp"

namespace hal::mutants {

namespace {
// Where set_device and get_device_count refuse they end with what `Told` says.
template <class Told>
void tell_refusals(Plugin& plugin, Told /*a lambda that captures nothing*/) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        return status == HAL_OK ? status : Told()(self, status);
    };
    plugin.device.get_device_count = [](hal_instance* self, int32_t* out_count) {
        const hal_status status = base.device.get_device_count(self, out_count);
        return status == HAL_OK ? status : Told()(self, status);
    };
}
}  // namespace

void error_one_text(Plugin& plugin) {
    tell_refusals(
        plugin, [](hal_instance* self, hal_status status) { return refuse(self, status, "the operation has failed"); });
}

// What went wrong is noted in one place for all threads before it is told.
void error_of_another_thread(Plugin& plugin) {
    tell_refusals(plugin, [](hal_instance* self, hal_status status) {
        static std::atomic<hal_status> last{HAL_OK};
        last.store(status);
        (void)sched_yield();
        (void)refuse(self, last, "the last thing that failed");
        return status;
    });
}

}  // namespace hal::mutants
