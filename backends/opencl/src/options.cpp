#include "options.hpp"

#include <string_view>
#include <utility>

#include "api.hpp"
#include "option_values.hpp"

namespace hal::opencl {
namespace {

template <class T>
T choice(const shared::OptionSource& source, const char* key,
         std::initializer_list<std::pair<std::string_view, T>> choices) {
    const std::string value = sdk::option(source.host, key, std::string(choices.begin()->first));
    std::string allowed;
    for (const auto& [name, meaning] : choices) {
        if (value == name) {
            return meaning;
        }
        allowed += (allowed.empty() ? "" : ", ") + std::string(name);
    }
    shared::bad_option(source, key, value, allowed);
}

}  // namespace

Options read_options(const hal_host* host) {
    const shared::OptionSource source{host, "opencl"};
    Options options;
    options.type = choice<uint64_t>(source, "type",
                                    {{"all", 0},
                                     {"cpu", CL_DEVICE_TYPE_CPU},
                                     {"gpu", CL_DEVICE_TYPE_GPU},
                                     {"accelerator", CL_DEVICE_TYPE_ACCELERATOR}});
    options.platform = sdk::option(host, "platform", "");
    options.index = shared::number_option(source, "index", -1, -1, 63);
    options.repeat = shared::number_option(source, "repeat", 1, 1, 8);
    options.memory_bytes = shared::memory_option(source, "memory", 0);
    options.memory_mode =
        choice<MemoryMode>(source, "memory_mode",
                           {{"auto", MemoryMode::automatic}, {"svm", MemoryMode::svm}, {"buffer", MemoryMode::buffer}});
    options.profiling = choice<bool>(source, "profiling", {{"off", false}, {"on", true}});
    options.xccl_overlap =
        choice<std::optional<bool>>(source, "xccl_overlap", {{"auto", std::nullopt}, {"on", true}, {"off", false}});
    options.kernels = sdk::option(host, "kernels", "");
    options.program_cache = sdk::option(host, "program_cache", "");
    if (const std::string& folder = options.program_cache; !folder.empty() && folder != "off" && folder[0] != '/') {
        shared::bad_option(source, "program_cache", folder, "off, or a folder's path from /");
    }
    options.xccl = xccl::read_options(host, source.backend);
    return options;
}

}  // namespace hal::opencl
