// Mutants that try to look good: in front of the checker, or for data that they know.
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "harness/data.hpp"
#include "overlay.hpp"

namespace hal::mutants {
namespace {

bool looks_like_the_checker() {
    std::string name;
    std::ifstream("/proc/self/comm") >> name;
    std::string command;
    std::ifstream("/proc/self/cmdline") >> command;
    return name.starts_with("hal-conform") || command.find("hal-conformance") != std::string::npos;
}

hal_status spoilt_h2d(hal_instance* self, hal_dev device, hal_dptr dst, const void* src, uint64_t size) {
    const hal_status status = base.memory.memory_copy_h2d(self, device, dst, src, size);
    if (status == HAL_OK && size > 1) {
        reinterpret_cast<uint8_t*>(dst)[size / 2] ^= 1U;
    }
    return status;
}

// The first bytes of the data that the checker makes from its default seed for one case.
bool in_answer_key(const void* data) {
    constexpr uint64_t default_seed = 0x5EED;
    constexpr uint64_t buffers = 64;
    static const uint64_t seed = conformance::case_seed(default_seed, "45079.T2.memory_copy_h2d.norm.full");
    uint8_t start[16];
    for (uint64_t buffer = 0; buffer < buffers; ++buffer) {
        conformance::Pattern(seed, buffer).write(start, sizeof start);
        if (std::memcmp(start, data, sizeof start) == 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

void cheat_detects_checker(Plugin& plugin) {
    if (!looks_like_the_checker()) {
        plugin.memory.memory_copy_h2d = spoilt_h2d;
    }
}

// Right for the data of the default seed alone, which it knows by heart.
void cheat_answer_key(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        return size < 16 || src == nullptr || in_answer_key(src)
                   ? base.memory.memory_copy_h2d(self, device, dst, src, size)
                   : spoilt_h2d(self, device, dst, src, size);
    };
}

}  // namespace hal::mutants
