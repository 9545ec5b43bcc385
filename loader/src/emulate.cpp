#include "emulate.hpp"

#include <algorithm>

#include "stub.hpp"

namespace hal::loader {

namespace {

struct Rule {
    std::string_view entry;
    std::array<std::string_view, 2> needs;  // native entries
    std::string_view pair;                  // must be a hole as well: half a pair cannot be counted
    std::string_view means;
};

constexpr auto rules = std::to_array<Rule>({
    {"initialize", {}, "finalize", "as a counted no-op"},
    {"finalize", {}, "initialize", "as a counted no-op"},
    {"init_device", {"get_device_count"}, "deinit_device", "as a counted no-op"},
    {"deinit_device", {"get_device_count"}, "init_device", "as a counted no-op"},
    {"get_device_list", {"get_device_count"}, "", "from get_device_count"},
    {"device_memory_set", {"memory_copy_h2d"}, "", "by copies of a filled host buffer"},
    {"memory_copy_d2d", {"memory_copy_d2h", "memory_copy_h2d"}, "", "by staging through host memory"},
    {"memory_copy_p2p", {"memory_copy_d2h", "memory_copy_h2d"}, "", "by staging through host memory"},
    {"memory_copy_2d", {"memory_copy_d2h", "memory_copy_h2d"}, "", "row by row"},
});

// Only the slots of `rules`; a wrong signature does not compile.
constexpr Tables make_emulations() {
    Tables set{};
    set.device.initialize = &emulated::initialize;
    set.device.finalize = &emulated::finalize;
    set.device.init_device = &emulated::init_device;
    set.device.deinit_device = &emulated::deinit_device;
    set.device.get_device_list = &emulated::get_device_list;
    set.memory.device_memory_set = &emulated::device_memory_set;
    set.memory.memory_copy_d2d = &emulated::memory_copy_d2d;
    set.memory.memory_copy_p2p = &emulated::memory_copy_p2p;
    set.memory_ext.memory_copy_2d = &emulated::memory_copy_2d;
    return set;
}
constinit const Tables emulations = make_emulations();

const Rule* rule_of(size_t entry) {
    const auto* rule =
        std::find_if(rules.begin(), rules.end(), [&](const Rule& one) { return one.entry == entries[entry].name; });
    return rule == rules.end() ? nullptr : rule;
}

bool native_has(const Tables& native, std::string_view entry) {
    return slot(native, static_cast<size_t>(find_entry(entry) - entries.data())) != nullptr;
}

bool possible(const Rule& rule, const Tables& native) {
    return std::all_of(rule.needs.begin(), rule.needs.end(),
                       [&](std::string_view need) { return need.empty() || native_has(native, need); }) &&
           (rule.pair.empty() || !native_has(native, rule.pair));
}

}  // namespace

std::string_view emulation_means(size_t entry) {
    const Rule* rule = rule_of(entry);
    return rule == nullptr ? std::string_view() : rule->means;
}

Completed complete(const Tables& native, bool emulate) {
    Completed result{.tables = absent_tables};
    for (size_t entry = 0; entry < entries.size(); ++entry) {
        if (const AnySlot own = slot(native, entry); own != nullptr) {
            set_slot(result.tables, entry, own);
            result.support[entry] = HAL_SUPPORT_NATIVE;
        } else if (const Rule* rule = rule_of(entry); emulate && rule != nullptr && possible(*rule, native)) {
            set_slot(result.tables, entry, slot(emulations, entry));
            result.support[entry] = HAL_SUPPORT_EMULATED;
        }
    }
    return result;
}

}  // namespace hal::loader
