#include "current_device.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "instance.hpp"

namespace hal::cpu {
namespace {

struct Entry {
    const char* instance;  // address of the instance's token, unique as long as `alive` refers to it
    std::weak_ptr<const char> alive;
    uint32_t life;
    hal_dev device;
};

// Of this thread only; a thread uses few instances, so a search is as fast as a map.
thread_local std::vector<Entry> entries;

Entry* find(const Opened& instance) noexcept {
    for (Entry& entry : entries) {
        if (entry.instance == instance.token().get()) {
            return &entry;
        }
    }
    return nullptr;
}

}  // namespace

hal_dev current_device(const Opened& instance) noexcept {
    const Entry* entry = find(instance);
    return entry != nullptr && entry->life == instance.life() ? entry->device : 0;
}

void set_current_device(const Opened& instance, hal_dev device) {
    if (Entry* entry = find(instance); entry != nullptr) {
        entry->life = instance.life();
        entry->device = device;
        return;
    }
    std::erase_if(entries, [](const Entry& entry) { return entry.alive.expired(); });
    entries.push_back({instance.token().get(), instance.token(), instance.life(), device});
}

size_t current_device_entries() noexcept {
    return entries.size();
}

}  // namespace hal::cpu
