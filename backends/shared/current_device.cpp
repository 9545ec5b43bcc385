#include "current_device.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "life.hpp"

namespace hal::shared {
namespace {

struct Entry {
    const char* instance;  // address of the instance's token, unique as long as `alive` refers to it
    std::weak_ptr<const char> alive;
    uint32_t life;
    hal_dev device;
};

// Of this thread only; a thread uses few instances, so a search is as fast as a map.
thread_local std::vector<Entry> entries;

Entry* find(const Life& life) noexcept {
    for (Entry& entry : entries) {
        if (entry.instance == life.token().get()) {
            return &entry;
        }
    }
    return nullptr;
}

}  // namespace

hal_dev current_device(const Life& life) noexcept {
    const Entry* entry = find(life);
    return entry != nullptr && entry->life == life.number() ? entry->device : 0;
}

void set_current_device(const Life& life, hal_dev device) {
    if (Entry* entry = find(life); entry != nullptr) {
        entry->life = life.number();
        entry->device = device;
        return;
    }
    std::erase_if(entries, [](const Entry& entry) { return entry.alive.expired(); });
    entries.push_back({life.token().get(), life.token(), life.number(), device});
}

size_t current_device_entries() noexcept {
    return entries.size();
}

}  // namespace hal::shared
