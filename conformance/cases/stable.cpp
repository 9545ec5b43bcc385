// Table 1 and X.id: what a plug-in says about itself is the same each time, on each thread and in each process.
#include "harness/child.hpp"
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

constexpr int calls = 100;
constexpr int processes = 3;
constexpr int order_processes = 20;

template <class Entry>
std::string texts(const Entry& entry, int32_t devices) {
    std::string all;
    for (hal_dev dev = 0; dev < devices; ++dev) {
        char text[512] = {};
        uint64_t size = 0;
        const hal_status status = entry(dev, text, sizeof text, &size);
        all += (status == HAL_OK ? std::string(text, strnlen(text, sizeof text)) : to_string(status)) + ";";
    }
    return all;
}

template <class Entry>
std::string versions(const Entry& entry, int32_t devices) {
    std::string all;
    for (hal_dev dev = 0; dev < devices; ++dev) {
        hal_version v{};
        v.header.size = sizeof v;
        const hal_status status = entry(dev, &v);
        all += status == HAL_OK
                   ? std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch) + " " +
                         std::string(v.text, strnlen(v.text, sizeof v.text))
                   : to_string(status);
        all += ";";
    }
    return all;
}

std::string capabilities(const Api& api, int32_t devices) {
    std::string all;
    for (hal_dev dev = 0; dev < devices; ++dev) {
        hal_compute_capability c{};
        c.header.size = sizeof c;
        const hal_status status = api.get_compute_capability(dev, &c);
        all += status == HAL_OK
                   ? std::to_string(c.major) + "." + std::to_string(c.minor) + " " + std::to_string(c.compute_units) +
                         " " + std::to_string(c.vector_bits) + " " + std::string(c.arch, strnlen(c.arch, sizeof c.arch))
                   : to_string(status);
        all += ";";
    }
    return all;
}

std::string list_of(const Api& api, int32_t devices) {
    std::vector<hal_dev> list(static_cast<size_t>(devices) + 1, INT32_MIN);
    uint32_t count = 0;
    const hal_status status = api.get_device_list(list.data(), static_cast<uint32_t>(list.size()), &count);
    std::string all = to_string(status) + " " + std::to_string(count) + ":";
    for (const hal_dev dev : list) {
        all += std::to_string(dev) + ";";
    }
    return all;
}

// What the entry says about every device, as one text.
std::string answer(const Api& api, std::string_view entry, int32_t devices) {
    if (entry == "get_device_name") {
        return texts(api.get_device_name, devices);
    }
    if (entry == "get_device_type") {
        return texts(api.get_device_type, devices);
    }
    if (entry == "get_driver_version") {
        return versions(api.get_driver_version, devices);
    }
    if (entry == "get_runtime_version") {
        return versions(api.get_runtime_version, devices);
    }
    if (entry == "get_compute_capability") {
        return capabilities(api, devices);
    }
    if (entry == "get_device_list") {
        return list_of(api, devices);
    }
    int32_t count = INT32_MIN;
    const hal_status status = api.get_device_count(&count);
    return to_string(status) + " " + std::to_string(count);
}

// Arguments: entry, devices, what the parent was told.
std::string say_the_same(const Backend& backend, const std::vector<std::string>& arguments) {
    const std::string got = answer(backend.api(), arguments.at(0), std::stoi(arguments.at(1)));
    return got == arguments.at(2) ? "" : "here " + arguments.at(0) + " answers " + got;
}
const ChildRegistration say_the_same_role("say_the_same", &say_the_same);

void check_in_processes(Test& t, const std::string& entry, int count) {
    const std::string first = answer(t.api, entry, t.facts.device_count);
    for (int i = 0; i < count; ++i) {
        t.eq(std::string(),
             run_child(t.target, "say_the_same", {entry, std::to_string(t.facts.device_count), first}, t.limits.finish),
             "another process, where this one is told " + first);
    }
}

void check_in_threads(Test& t, const std::string& entry) {
    const std::string first = answer(t.api, entry, t.facts.device_count);
    t.threads(8, [&](int) { t.eq(first, answer(t.api, entry, t.facts.device_count), "the answer on another thread"); });
}

void check_stable(Test& t, const std::string& entry) {
    const std::string first = answer(t.api, entry, t.facts.device_count);
    for (int i = 0; i < calls; ++i) {
        t.eq(first, answer(t.api, entry, t.facts.device_count), "the answer, again");
    }
    check_in_threads(t, entry);
    check_in_processes(t, entry, processes);
}

#define STABLE(row, entry)                                                               \
    HAL_CASE("45079.T1." #entry ".norm.stable", clauses{"45079/T1." #row}, authority::D, \
             needs{E::entry, free_threads})                                              \
    (Test & t) {                                                                         \
        check_stable(t, #entry);                                                         \
    }

STABLE(1, get_device_name)
STABLE(2, get_device_type)
STABLE(3, get_driver_version)
STABLE(4, get_runtime_version)
STABLE(9, get_device_list)
STABLE(10, get_compute_capability)

HAL_CASE("45079.T1.get_device_count.norm.stable_across_threads", clauses{"45079/T1.8"}, authority::D,
         needs{E::get_device_count, free_threads})
(Test& t) {
    check_in_threads(t, "get_device_count");
}

HAL_CASE("45079.T1.get_device_count.norm.stable_across_processes", clauses{"45079/T1.8"}, authority::D,
         needs{E::get_device_count})
(Test& t) {
    check_in_processes(t, "get_device_count", processes);
}

HAL_CASE("45079.T1.get_device_list.norm.order_stable", clauses{"45079/T1.9"}, authority::D, needs{E::get_device_list},
         cls::medium)
(Test& t) {
    check_in_processes(t, "get_device_list", order_processes);
}

// The identity that a report names.
HAL_CASE("45079.X.id.norm.stable_over_processes", clauses{"45079/T1.8"}, authority::D, needs{E::get_device_count})
(Test& t) {
    for (const EntryInfo& entry : entries_of(*find_table("device"))) {
        const bool tells = entry.name.starts_with("get_") && entry.name != "get_device";
        const auto index = static_cast<size_t>(&entry - entries.data());
        if (tells && t.facts.present[index]) {
            check_in_processes(t, std::string(entry.name), processes);
        }
    }
}

// Arguments: what the descriptor says.
std::string same_descriptor(const Backend& backend, const std::vector<std::string>& arguments) {
    const auto& d = backend.descriptor();
    const std::vector<std::string> got{d.name, d.vendor, d.version, d.build, std::to_string(d.flags)};
    return got == arguments ? "" : "the descriptor has other texts or flags here";
}
const ChildRegistration same_descriptor_role("same_descriptor", &same_descriptor);

HAL_CASE("45079.X.id.norm.descriptor_stable", clauses{"hal/3"}, authority::A, needs{})
(Test& t) {
    const auto& d = t.backend().descriptor();
    for (int i = 0; i < processes; ++i) {
        t.eq(std::string(),
             run_child(t.target, "same_descriptor", {d.name, d.vendor, d.version, d.build, std::to_string(d.flags)},
                       t.limits.finish),
             "name, vendor, version, build and flags in another process");
    }
}

}  // namespace
}  // namespace hal::conformance
