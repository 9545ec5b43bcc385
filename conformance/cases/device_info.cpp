// Table 1: what a device says about itself; device_ext.
#include "struct_checks.hpp"

namespace hal::conformance {
namespace {

// Text of table 1: any call of it, for the cases that all string entries share.
using Read = std::function<hal_status(hal_dev, char*, uint64_t, uint64_t*)>;

bool good_text(const std::string& text) {
    // Valid UTF-8 without control characters.
    for (size_t i = 0; i < text.size();) {
        const auto lead = static_cast<uint8_t>(text[i]);
        const size_t length = lead < 0x80          ? 1
                              : (lead >> 5U) == 6  ? 2
                              : (lead >> 4U) == 14 ? 3
                              : (lead >> 3U) == 30 ? 4
                                                   : 0;
        if (length == 0 || i + length > text.size() || lead < 0x20 || lead == 0x7F) {
            return false;
        }
        for (size_t k = 1; k < length; ++k) {
            if ((static_cast<uint8_t>(text[i + k]) & 0xC0U) != 0x80) {
                return false;
            }
        }
        i += length;
    }
    return true;
}

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
        t.check(good_text(first), "valid UTF-8 without control characters");
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

void check_null(Test& t, const Read& read) {
    char text[256];
    uint64_t size = 0;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return read(0, text, sizeof text, nullptr); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return read(0, nullptr, sizeof text, &size); });
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

HAL_CASE("45079.T1.get_device_name.norm.nonempty_utf8", clauses{"45079/T1.1"}, authority::S, needs{E::get_device_name})
(Test& t) {
    check_text(t, name_of(t));
}
HAL_CASE("45079.T1.get_device_name.edge.every_capacity", clauses{"45079/T1.1"}, authority::A, needs{E::get_device_name})
(Test& t) {
    check_short_buffer(t, name_of(t));
}
HAL_CASE("45079.T1.get_device_name.err.null_out", clauses{"45079/T1.1"}, authority::A, needs{E::get_device_name})
(Test& t) {
    check_null(t, name_of(t));
}

HAL_CASE("45079.T1.get_device_type.norm.nonempty_utf8", clauses{"45079/T1.2"}, authority::S, needs{E::get_device_type})
(Test& t) {
    check_text(t, type_of(t));
}
HAL_CASE("45079.T1.get_device_type.edge.every_capacity", clauses{"45079/T1.2"}, authority::A, needs{E::get_device_type})
(Test& t) {
    check_short_buffer(t, type_of(t));
}
HAL_CASE("45079.T1.get_device_type.err.null_out", clauses{"45079/T1.2"}, authority::A, needs{E::get_device_type})
(Test& t) {
    check_null(t, type_of(t));
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

void check_version(Test& t, const std::function<hal_status(hal_dev, hal_version*)>& query) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        hal_version first{};
        first.header.size = sizeof first;
        std::memset(first.text, 'X', sizeof first.text);
        t.ok(query(dev, &first));
        t.check(first.major != 0 || first.minor != 0 || first.patch != 0, "the version is not 0.0.0");
        t.check(std::memchr(first.text, 0, sizeof first.text) != nullptr, "the text has a terminator");
        hal_version second{};
        second.header.size = sizeof second;
        t.ok(query(dev, &second));
        t.check(first.major == second.major && first.minor == second.minor && first.patch == second.patch,
                "the same version again");
    }
}

HAL_CASE("45079.T1.get_driver_version.norm.nonzero", clauses{"45079/T1.3"}, authority::S, needs{E::get_driver_version})
(Test& t) {
    check_version(t, [&](hal_dev dev, hal_version* out) { return t.api.get_driver_version(dev, out); });
}

HAL_CASE("45079.T1.get_runtime_version.norm.nonzero", clauses{"45079/T1.4"}, authority::S,
         needs{E::get_runtime_version})
(Test& t) {
    check_version(t, [&](hal_dev dev, hal_version* out) { return t.api.get_runtime_version(dev, out); });
}

HAL_CASE("45079.T1.get_compute_capability.norm.each_device", clauses{"45079/T1.10"}, authority::S,
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
