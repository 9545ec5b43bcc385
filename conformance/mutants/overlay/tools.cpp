// What several mutants use.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "overlay.hpp"

namespace hal::mutants {

void delay(hal_instance* self, hal_dev device, hal_stream stream) {
    const auto nap = [](void*, hal_dev, hal_stream, hal_status) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    (void)base.stream.stream_add_callback(self, device, stream, nap, nullptr);
}

int32_t device_count(hal_instance* self) {
    int32_t count = 1;
    (void)base.device.get_device_count(self, &count);
    return count;
}

void drain(hal_instance* self, hal_dev device, hal_stream stream) {
    (void)base.stream.synchronize_stream(self, device, stream, HAL_NO_TIMEOUT);
}

namespace {
std::mutex hidden_mutex;
std::map<std::pair<hal_instance*, hal_dev>, hal_stream> hidden;
void (*destroy_below)(hal_instance*) = nullptr;

void forget_hidden(hal_instance* self, bool destroy_them) {
    const std::lock_guard lock(hidden_mutex);
    std::erase_if(hidden, [&](const auto& one) {
        if (one.first.first == self && destroy_them) {
            (void)base.stream.destroy_stream(self, one.first.second, one.second);
        }
        return one.first.first == self;
    });
}
}  // namespace

hal_stream hidden_stream(hal_instance* self, hal_dev device) {
    const std::lock_guard lock(hidden_mutex);
    hal_stream& stream = hidden[{self, device}];
    if (stream == nullptr) {
        (void)base.stream.create_stream(self, device, nullptr, &stream);
    }
    return stream;
}

void with_hidden_streams(Plugin& plugin) {
    plugin.device.finalize = [](hal_instance* self) {
        forget_hidden(self, true);
        return base.device.finalize(self);
    };
    destroy_below = plugin.descriptor.destroy;
    plugin.descriptor.destroy = [](hal_instance* self) {
        forget_hidden(self, false);
        destroy_below(self);
    };
}

void lose_memory(size_t size) {
    static std::atomic<void*> last{nullptr};
    last = std::memset(std::malloc(size), 1, size);  // NOLINT: the leak is the point
}

// Addresses only: nothing is paid for what nobody touches.
hal_dptr plausible_address(uint64_t size_bytes) {
    constexpr uint64_t space = uint64_t{1} << 38U;
    static const auto begin = [] {
        void* const region =
            mmap(nullptr, space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return reinterpret_cast<hal_dptr>(region);
    }();
    static std::atomic<uint64_t> used{0};
    const uint64_t whole = size_bytes > space / 4 ? 4096 : (size_bytes + 4095) / 4096 * 4096;
    return begin + used.fetch_add(whole) % (space / 2);
}

}  // namespace hal::mutants
