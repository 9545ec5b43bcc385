// Table 1: what a device says about itself; device_ext.
#include "struct_checks.hpp"

namespace hal::conformance {
namespace {

// Text of table 1: any call of it, for the cases that all string entries share.
using Read = std::function<hal_status(hal_dev, char*, uint64_t, uint64_t*)>;

std::string read_text(Test& t, const Read& read, hal_dev dev) {
    uint64_t size = 0;
    t.fails(HAL_ERROR_BUFFER_TOO_SMALL, [&] { return read(dev, nullptr, 0, &size); });
    std::string text(size, 'X');
    uint64_t again = 0;
    t.ok(read(dev, text.data(), text.size(), &again));
    t.eq(size, again, "size reported with a buffer that fits");
    if (!t.check(size > 0 && text.back() == '\0', "the terminator is the last byte of the reported size")) {
        return {};
    }
    text.pop_back();
    return text;
}

void check_text(Test& t, const Read& read) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const auto in = t.context("device", static_cast<uint64_t>(dev));
        const std::string first = read_text(t, read, dev);
        t.check(!first.empty(), "the text is not empty");
        t.check(first.find('\0') == std::string::npos, "no terminator before the end");
        t.check(valid_text(first), "valid UTF-8 without control characters");
        t.eq(first, read_text(t, read, dev), "the same text again");
    }
}

void check_short_buffer(Test& t, const Read& read) {
    uint64_t size = 0;
    t.fails(HAL_ERROR_BUFFER_TOO_SMALL, [&] { return read(0, nullptr, 0, &size); });
    for (uint64_t capacity = 0; capacity < size; ++capacity) {
        HostBuffer& buffer = t.host(size);
        uint64_t needed = 0;
        t.fails(HAL_ERROR_BUFFER_TOO_SMALL,
                [&] { return read(0, reinterpret_cast<char*>(buffer.data()), capacity, &needed); });
        t.eq(size, needed, "size reported with a short buffer");
        t.expect(buffer, poison, "a buffer that was too short");
    }
    HostBuffer& exact = t.host(size);
    t.ok(read(0, reinterpret_cast<char*>(exact.data()), size, &size));
    t.check(exact.guards_intact(), "nothing is written beyond the capacity");
}

// Length first, then a buffer of just that length.
void check_two_call(Test& t, const Read& read) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        t.check(!read_text(t, read, dev).empty(), "a text after asking for its length");
    }
}

uint64_t needed_for(Test& t, const Read& read) {
    uint64_t size = 0;
    t.fails(HAL_ERROR_BUFFER_TOO_SMALL, [&] { return read(0, nullptr, 0, &size); });
    return size;
}

void check_exact(Test& t, const Read& read) {
    const uint64_t size = needed_for(t, read);
    const HostBuffer room(size);
    uint64_t reported = 0;
    t.ok(read(0, reinterpret_cast<char*>(room.data()), size, &reported));
    t.eq(size, reported, "size reported with a buffer that fits");
    t.check(size > 0 && room.data()[size - 1] == 0, "the terminator is in the last byte");
    t.check(room.guards_intact(), "nothing is written around the buffer");
}

void check_capacity(Test& t, const Read& read, uint64_t capacity, uint64_t size) {
    const HostBuffer room(size);
    uint64_t reported = 0;
    t.fails(HAL_ERROR_BUFFER_TOO_SMALL,
            [&] { return read(0, reinterpret_cast<char*>(room.data()), capacity, &reported); });
    t.eq(size, reported, "size reported with a short buffer");
    t.expect(room, poison, "a buffer that was too short");
}

void check_minus_1(Test& t, const Read& read) {
    const uint64_t size = needed_for(t, read);
    check_capacity(t, read, size - 1, size);
}

void check_0(Test& t, const Read& read) {
    check_capacity(t, read, 0, needed_for(t, read));
}

void check_each_text(Test& t, const Read& read) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const auto in = t.context("device", static_cast<uint64_t>(dev));
        char text[512];
        uint64_t size = 0;
        t.ok(read(dev, text, sizeof text, &size));
    }
}

void check_null(Test& t, const Read& read) {
    uint64_t size = 0;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return read(0, nullptr, 256, &size); });
}

Read name_of(Test& t) {
    return [&t](hal_dev dev, char* text, uint64_t capacity, uint64_t* size) {
        return t.api.get_device_name(dev, text, capacity, size);
    };
}
Read type_of(Test& t) {
    return [&t](hal_dev dev, char* text, uint64_t capacity, uint64_t* size) {
        return t.api.get_device_type(dev, text, capacity, size);
    };
}

#define TEXT_CASE(row, entry, id, rights, read, check)                                      \
    HAL_CASE("45079.T1." #entry "." id, clauses{"45079/T1." #row}, rights, needs{E::entry}) \
    (Test & t) {                                                                            \
        check(t, read(t));                                                                  \
    }
#define TEXT_CASES(row, entry, read)                                                     \
    TEXT_CASE(row, entry, "norm.nonempty_utf8", authority::S, read, check_text)          \
    TEXT_CASE(row, entry, "norm.each_device", authority::D, read, check_each_text)       \
    TEXT_CASE(row, entry, "edge.two_call", authority::A, read, check_two_call)           \
    TEXT_CASE(row, entry, "edge.cap_exact", authority::A, read, check_exact)             \
    TEXT_CASE(row, entry, "edge.cap_minus_1", authority::A, read, check_minus_1)         \
    TEXT_CASE(row, entry, "edge.cap_0", authority::A, read, check_0)                     \
    TEXT_CASE(row, entry, "edge.every_capacity", authority::A, read, check_short_buffer) \
    TEXT_CASE(row, entry, "err.null_text", authority::A, read, check_null)

TEXT_CASES(1, get_device_name, name_of)
TEXT_CASES(2, get_device_type, type_of)

HAL_CASE("45079.T1.get_device_type.norm.differs_from_name", clauses{"45079/T1.2"}, authority::Q,
         needs{E::get_device_type, E::get_device_name})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        t.check(read_text(t, type_of(t), dev) != read_text(t, name_of(t), dev), "the model is no copy of the name");
    }
}

// Devices that agree in everything else are of one model.
HAL_CASE("45079.T1.get_device_type.norm.same_for_equal_devices", clauses{"45079/T1.2"}, authority::Q,
         needs{E::get_device_type, E::get_device_name, E::get_device_properties, devices(2)})
(Test& t) {
    std::map<std::string, std::string> type_of_name;
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        hal_device_properties properties{};
        properties.header.size = sizeof properties;
        t.ok(t.api.get_device_properties(dev, &properties));
        const std::string like = read_text(t, name_of(t), dev) + std::to_string(properties.total_memory_bytes);
        const std::string type = read_text(t, type_of(t), dev);
        t.eq(type_of_name.try_emplace(like, type).first->second, type, "type of devices with equal names and memory");
    }
}

// ---- Query structs ----

#define STRUCT_CASES(prefix, clause, entry, Struct)                                         \
    HAL_CASE(prefix ".edge.struct_size", clauses{clause}, authority::A, needs{E::entry})    \
    (Test & t) {                                                                            \
        check_struct_sizes<Struct>(t, [&](Struct* out) { return t.api.entry(0, out); });    \
    }                                                                                       \
    HAL_CASE(prefix ".err.null_size_chain", clauses{clause}, authority::A, needs{E::entry}) \
    (Test & t) {                                                                            \
        check_struct_errors<Struct>(t, [&](Struct* out) { return t.api.entry(0, out); });   \
    }

STRUCT_CASES("45079.T1.get_driver_version", "45079/T1.3", get_driver_version, hal_version)
STRUCT_CASES("45079.T1.get_runtime_version", "45079/T1.4", get_runtime_version, hal_version)
STRUCT_CASES("45079.T1.get_compute_capability", "45079/T1.10", get_compute_capability, hal_compute_capability)
STRUCT_CASES("hal.device_ext.get_device_properties", "45079/T1.1", get_device_properties, hal_device_properties)

template <class Entry>
hal_version version_of(Test& t, const Entry& entry, hal_dev dev) {
    hal_version version{};
    version.header.size = sizeof version;
    std::memset(version.text, 'X', sizeof version.text);
    t.ok(entry(dev, &version));
    return version;
}

template <class Entry>
void check_version(Test& t, const Entry& entry, int32_t devices_asked) {
    for (hal_dev dev = 0; dev < devices_asked; ++dev) {
        const auto in = t.context("device", static_cast<uint64_t>(dev));
        const hal_version version = version_of(t, entry, dev);
        t.check(version.major != 0 || version.minor != 0 || version.patch != 0, "the version is not 0.0.0");
    }
}

// Three numbers that a range of versions can be compared with, and the vendor's own spelling.
template <class Entry>
void check_version_format(Test& t, const Entry& entry) {
    constexpr uint32_t largest = 999'999'999;
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const hal_version version = version_of(t, entry, dev);
        t.le(std::max({version.major, version.minor, version.patch}), largest, "numbers of the version");
        t.check(std::memchr(version.text, 0, sizeof version.text) != nullptr, "the text has a terminator");
        t.check(valid_text({version.text, strnlen(version.text, sizeof version.text)}),
                "the text is UTF-8 without control characters");
    }
}

// Right after initialize, on an instance that has made no stream yet.
template <class Entry>
void check_before_context(Test& t, Entry Api::*entry) {
    const auto other = t.another();
    t.ok(other->initialize());
    version_of(t, other->api().*entry, 0);
    t.ok(other->finalize());
}

#define VERSION_CASE(row, entry, id, rights, ...)                                           \
    HAL_CASE("45079.T1." #entry "." id, clauses{"45079/T1." #row}, rights, needs{E::entry}) \
    (Test & t) {                                                                            \
        __VA_ARGS__;                                                                        \
    }
#define VERSION_CASES(row, entry)                                                                                   \
    VERSION_CASE(row, entry, "norm.nonzero", authority::S, check_version(t, t.api.entry, 1))                        \
    VERSION_CASE(row, entry, "norm.each_device", authority::D, check_version(t, t.api.entry, t.facts.device_count)) \
    VERSION_CASE(row, entry, "norm.in_waiver_range_format", authority::A, check_version_format(t, t.api.entry))     \
    VERSION_CASE(row, entry, "norm.before_context", authority::Q, check_before_context(t, &Api::entry))

VERSION_CASES(3, get_driver_version)
VERSION_CASES(4, get_runtime_version)

HAL_CASE("45079.T1.get_runtime_version.norm.driver_at_least_runtime", clauses{"45079/T1.4", "45079/T1.3"}, authority::Q,
         needs{E::get_runtime_version, E::get_driver_version})
(Test& t) {
    const hal_version driver = version_of(t, t.api.get_driver_version, 0);
    const hal_version runtime = version_of(t, t.api.get_runtime_version, 0);
    // Vendors count drivers and runtimes apart: said in the report, judged by nobody.
    t.metric("driver version", driver.major + driver.minor / 1000.0, "");
    t.metric("runtime version", runtime.major + runtime.minor / 1000.0, "");
}

HAL_CASE("45079.T1.get_runtime_version.norm.equals_report_after_reinit", clauses{"45079/T1.4"}, authority::D,
         needs{E::get_runtime_version})
(Test& t) {
    const hal_version first = version_of(t, t.api.get_runtime_version, 0);
    const auto other = t.another();
    for (int i = 0; i < 3; ++i) {
        t.ok(other->initialize());
        const hal_version again = version_of(t, other->api().get_runtime_version, 0);
        t.check(first.major == again.major && first.minor == again.minor && first.patch == again.patch,
                "the same version after another initialize");
        t.ok(other->finalize());
    }
}

HAL_CASE("45079.T1.get_compute_capability.norm.nonzero", clauses{"45079/T1.10"}, authority::S,
         needs{E::get_compute_capability})
(Test& t) {
    hal_compute_capability out{};
    out.header.size = sizeof out;
    t.ok(t.api.get_compute_capability(0, &out));
    t.check(out.major != 0 || out.minor != 0 || out.arch[0] != 0, "something is known of the capability");
}

HAL_CASE("45079.T1.get_compute_capability.norm.each_device", clauses{"45079/T1.10"}, authority::D,
         needs{E::get_compute_capability})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        hal_compute_capability out{};
        out.header.size = sizeof out;
        std::memset(out.arch, 'X', sizeof out.arch);
        t.ok(t.api.get_compute_capability(dev, &out));
        t.check(std::memchr(out.arch, 0, sizeof out.arch) != nullptr, "arch has a terminator");
        t.check(out.major != 0 || out.minor != 0 || out.arch[0] != 0, "something is known of the capability");
    }
}

HAL_CASE("hal.device_ext.get_device_properties.norm.each_device", clauses{"45079/T1.1"}, authority::A,
         needs{E::get_device_properties})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        hal_device_properties out{};
        out.header.size = sizeof out;
        std::memset(out.pci, 'X', sizeof out.pci);
        std::memset(out.vendor, 'X', sizeof out.vendor);
        t.ok(t.api.get_device_properties(dev, &out));
        t.check(out.kind >= HAL_KIND_CPU && out.kind <= HAL_KIND_OTHER, "kind is one of HAL_KIND_*");
        t.le(256U, out.alignment_bytes, "alignment of allocations");
        t.check(out.total_memory_bytes > 0, "there is memory");
        t.check(std::memchr(out.pci, 0, sizeof out.pci) != nullptr, "pci has a terminator");
        t.check(std::memchr(out.vendor, 0, sizeof out.vendor) != nullptr, "vendor has a terminator");
    }
}

HAL_CASE("hal.device_ext.get_device_properties.norm.uuids_differ", clauses{"45079/T1.1"}, authority::A,
         needs{E::get_device_properties, devices(2)})
(Test& t) {
    std::set<std::string> seen;
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        hal_device_properties out{};
        out.header.size = sizeof out;
        t.ok(t.api.get_device_properties(dev, &out));
        const std::string uuid(reinterpret_cast<const char*>(out.uuid), sizeof out.uuid);
        t.check(uuid == std::string(sizeof out.uuid, '\0') || seen.insert(uuid).second,
                "no other device has this uuid");
    }
}

HAL_CASE("hal.device_ext.device_time.norm.advances", clauses{"45079/T1.1"}, authority::A, needs{E::device_time})
(Test& t) {
    uint64_t before = 0;
    t.ok(t.api.device_time(0, &before));
    t.check(before != 0, "the clock has started");
    uint64_t now = before;
    const auto end = std::chrono::steady_clock::now() + t.limits.finish;
    while (now <= before && std::chrono::steady_clock::now() < end) {
        const uint64_t last = now;
        t.ok(t.api.device_time(0, &now));
        t.le(last, now, "the clock never goes back");
    }
    t.check(now > before, "the clock moves");
}

HAL_CASE("hal.device_ext.device_time.err.null_out", clauses{"45079/T1.1"}, authority::A, needs{E::device_time})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.device_time(0, nullptr); });
}

}  // namespace
}  // namespace hal::conformance
