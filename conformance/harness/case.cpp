#include "case.hpp"

#include <algorithm>
#include <set>

namespace hal::conformance {
namespace {

constexpr size_t max_id = 160;

std::vector<std::string_view> split(std::string_view id) {
    std::vector<std::string_view> parts;
    for (size_t begin = 0; begin <= id.size();) {
        const size_t end = std::min(id.find('.', begin), id.size());
        parts.push_back(id.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

bool good_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

// GB/T 46345 A.6 and GB/T 45280 are cited by clause, <standard>.<clause>.<case>.
bool of_other_standard(std::string_view id) {
    return id.starts_with("46345.A6.") || id.starts_with("45280.");
}

// After its prefix an id is lower case.
bool good_id(std::string_view id) {
    std::string_view rest = id;
    for (const std::string_view prefix : {"45079.T", "45079.X", "46345.A"}) {
        if (rest.starts_with(prefix)) {
            rest.remove_prefix(prefix.size());
        }
    }
    const size_t parts = id.starts_with("perf.") ? 2 : of_other_standard(id) ? 3 : 5;
    return !id.empty() && id.size() <= max_id && std::all_of(rest.begin(), rest.end(), good_character) &&
           split(id).size() >= parts;
}

bool good_category(std::string_view id) {
    static const std::set<std::string_view> known{"sig",   "norm",   "edge", "err", "order", "conc",   "life",
                                                  "fault", "stress", "num",  "env", "leak",  "static", "dynamic"};
    const auto parts = split(id);
    return parts[0] == "perf" || of_other_standard(id) || (parts.size() >= 4 && known.contains(parts[3]));
}

bool needs_entry(const Case& one, std::string_view name) {
    return std::any_of(one.needs.begin(), one.needs.end(), [&](const Need& need) {
        return need.kind == Need::Kind::entry && info(static_cast<E>(need.value)).name == name;
    });
}

}  // namespace

std::string text_of(const Need& need) {
    switch (need.kind) {
        case Need::Kind::entry:
            return std::string(entries[need.value].name);
        case Need::Kind::offered:
            return std::string(entries[need.value].name) + " in a table or claimed";
        case Need::Kind::memory:
            return std::to_string(need.value) + " MiB of free memory";
        case Need::Kind::devices:
            return std::to_string(need.value) + " devices";
        case Need::Kind::device_flag:
            return std::string(need.text);
        case Need::Kind::op:
            return "kernel " + std::string(need.text);
        case Need::Kind::no_backend_flag:
            return "no plug-in that " + std::string(need.text);
        case Need::Kind::any_work:
            return "asynchronous work";
        case Need::Kind::gate:
            return "a gate";
        case Need::Kind::claim:
            return "the claim " + std::string(need.text);
        case Need::Kind::no_claim:
            return "no claim " + std::string(need.text);
        case Need::Kind::ranks:
            return "place for " + std::to_string(need.value) + " ranks";
    }
    return "?";
}

const NeedGroup& memory_io() {
    static const NeedGroup group{E::device_memory_allocate, E::device_memory_deallocate, E::memory_copy_h2d,
                                 E::memory_copy_d2h};
    return group;
}

over work_sources() {
    const auto with = [](E entry) {
        auto list = memory_io().list;
        list.push_back(need_entry(entry));
        return list;
    };
    return {"src",
            {Value("h2d", with(E::async_memory_copy_h2d)), Value("d2h", with(E::async_memory_copy_d2h)),
             Value("d2d", with(E::async_memory_copy_d2d)), Value("fill", with(E::async_memory_set)),
             Value("callback", {need_entry(E::stream_add_callback)})}};
}

Need op(std::string_view name, std::string_view type) {
    static std::set<std::string> names;  // a need holds no text of its own
    return {Need::Kind::op, 0, *names.insert(std::string(name) + "/" + std::string(type)).first};
}

over dtypes_of(std::string_view op_name, std::initializer_list<std::string_view> types) {
    over axis{"dtype", {}};
    for (const std::string_view type : types) {
        axis.values.emplace_back(type, std::vector<Need>{op(op_name, type)});
    }
    return axis;
}

over so_many_ranks(std::initializer_list<uint32_t> counts) {
    static constexpr std::array<std::string_view, 9> names{"0", "1", "2", "3", "4", "5", "6", "7", "8"};
    over axis{"ranks", {}};
    for (const uint32_t count : counts) {
        axis.values.emplace_back(names.at(count), std::vector<Need>{place_for(count)});
    }
    return axis;
}

over number_of_ranks(uint32_t least) {
    return least <= 1   ? so_many_ranks({2, 1, 3, 4, 5, 8})
           : least == 2 ? so_many_ranks({2, 3, 4, 5, 8})
                        : so_many_ranks({3, 4, 5, 8});
}

over bad_devices() {
    return {"dev", {"-1", "count", "int32_max"}};
}

std::vector<Case>& all_cases() {
    static std::vector<Case> cases;
    return cases;
}

std::vector<Instance> expand(const Case& one) {
    std::vector<Instance> result{{&one, "", one.needs, {}}};
    for (const over& axis : one.axes) {
        std::vector<Instance> next;
        for (const Instance& before : result) {
            for (const Value& value : axis.values) {
                Instance with = before;
                with.id += with.id.empty() ? "" : ",";
                with.id.append(axis.name).append("=").append(value.text);
                with.needs.insert(with.needs.end(), value.needs.begin(), value.needs.end());
                with.params[axis.name] = value.text;
                next.push_back(std::move(with));
            }
        }
        result = std::move(next);
    }
    for (Instance& instance : result) {
        instance.id = std::string(one.id) + (instance.id.empty() ? "" : "[" + instance.id + "]");
    }
    return result;
}

std::vector<Instance> all_instances() {
    std::vector<Instance> result;
    for (const Case& one : all_cases()) {
        auto some = expand(one);
        std::move(some.begin(), some.end(), std::back_inserter(result));
    }
    std::sort(result.begin(), result.end(), [](const Instance& a, const Instance& b) { return a.id < b.id; });
    return result;
}

const EntryInfo* entry_of(std::string_view id) {
    const auto parts = split(id);
    return parts.size() < 3 || parts[1] == "X" || parts[0] == "perf" ? nullptr : find_entry(parts[2]);
}

bool mandatory(const EntryInfo& entry) {
    return entry.need == hal::Need::required && find_table(entry.table)->id <= 4;
}

std::vector<std::string> catalogue_faults(const std::vector<Case>& cases) {
    std::vector<std::string> faults;
    std::set<std::string_view> seen;
    for (const Case& one : cases) {
        const auto fault = [&](const std::string& text) {
            faults.push_back(std::string(one.file) + ":" + std::to_string(one.line) + ": " + std::string(one.id) +
                             ": " + text);
        };
        if (!good_id(one.id)) {
            fault("not of the form <standard>.<table>.<entry>.<category>.<case> in lower case, 160 characters at most");
        }
        if (!good_category(one.id)) {
            fault("unknown category");
        }
        if (!seen.insert(one.id).second) {
            fault("registered twice");
        }
        if (one.clauses.empty()) {
            fault("names no clause");
        }
        const auto parts = split(one.id);
        const EntryInfo* entry = entry_of(one.id);
        if (entry == nullptr && parts[0] != "perf" && !of_other_standard(one.id) &&
            (parts.size() < 2 || parts[1] != "X")) {
            fault("names no entry of the tables");
        }
        // `sig` looks at the table itself, so that it must run where the entry is absent.
        if (entry != nullptr && parts.size() > 3 && parts[3] != "sig" && !needs_entry(one, entry->name)) {
            fault("does not need its own entry");
        }
    }
    return faults;
}

}  // namespace hal::conformance
