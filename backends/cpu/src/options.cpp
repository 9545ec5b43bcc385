#include <unistd.h>

#include "instance.hpp"
#include "option_values.hpp"

namespace hal::cpu {
namespace {

constexpr int32_t max_devices = 64;

uint64_t default_memory(int32_t devices) {
    const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
    const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return pages * page_bytes / 2 / static_cast<uint64_t>(devices);
}

}  // namespace

Options read_options(const hal_host* host) {
    const shared::OptionSource source{host, "cpu.ref"};
    Options options;
    options.devices = shared::number_option(source, "devices", 1, 1, max_devices);
    options.memory_bytes = shared::memory_option(source, "memory", default_memory(options.devices));
    options.xccl = xccl::read_options(host, source.backend);
    return options;
}

}  // namespace hal::cpu
