// memory_ext: what an address is, the caller's own memory registered, peers, other processes, trim and peak.
#include <sys/mman.h>

#include "harness/child.hpp"
#include "struct_checks.hpp"

namespace hal::conformance {
namespace {

hal_memory_attributes attributes_of(Test& t, uint64_t address) {
    hal_memory_attributes out{};
    out.header.size = sizeof out;
    t.ok(t.api.get_memory_attributes(address, &out));
    return out;
}

HAL_CASE("hal.memory_ext.get_memory_attributes.norm.device", clauses{"45079/T2.1"}, authority::A,
         needs{E::get_memory_attributes, E::device_memory_allocate, E::device_memory_deallocate})
(Test& t) {
    const hal_dev dev = t.facts.device_count - 1;
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(dev, 1000, &ptr));
    for (const uint64_t offset : {0, 1, 999}) {
        const hal_memory_attributes out = attributes_of(t, ptr + offset);
        t.eq(HAL_MEMORY_DEVICE, out.memory_kind, "kind");
        t.eq(dev, out.device, "device");
        t.eq(ptr, out.base, "base");
        t.eq(uint64_t{1000}, out.size_bytes, "size that was asked for");
    }
    t.ok(t.api.device_memory_deallocate(dev, ptr, 1000));
    hal_memory_attributes out{};
    out.header.size = sizeof out;
    t.fails(HAL_ERROR_NOT_FOUND, [&] { return t.api.get_memory_attributes(ptr, &out); });
}

HAL_CASE("hal.memory_ext.get_memory_attributes.norm.host_and_unified", clauses{"45079/T2.3", "45079/T2.5"},
         authority::A,
         needs{E::get_memory_attributes, E::host_memory_allocate, E::host_memory_deallocate, E::unified_memory_allocate,
               E::unified_memory_deallocate})
(Test& t) {
    void* host = nullptr;
    hal_dptr unified = 0;
    t.ok(t.api.host_memory_allocate(0, 1000, &host));
    t.ok(t.api.unified_memory_allocate(0, 2000, &unified));
    const auto of_host = attributes_of(t, reinterpret_cast<uint64_t>(host) + 999);
    const auto of_unified = attributes_of(t, unified + 1999);
    t.eq(HAL_MEMORY_HOST, of_host.memory_kind, "kind of host memory");
    t.eq(reinterpret_cast<uint64_t>(host), of_host.base, "base of host memory");
    t.eq(HAL_MEMORY_UNIFIED, of_unified.memory_kind, "kind of unified memory");
    t.eq(uint64_t{2000}, of_unified.size_bytes, "size of unified memory");
    t.ok(t.api.host_memory_deallocate(0, host, 1000));
    t.ok(t.api.unified_memory_deallocate(0, unified, 2000));
}

HAL_CASE("hal.memory_ext.get_memory_attributes.err.unknown", clauses{"45079/T2.1"}, authority::A,
         needs{E::get_memory_attributes})
(Test& t) {
    hal_memory_attributes out{};
    out.header.size = sizeof out;
    int local = 0;
    for (const uint64_t address : {uint64_t{0}, uint64_t{1}, UINT64_MAX, reinterpret_cast<uint64_t>(&local)}) {
        t.fails(HAL_ERROR_NOT_FOUND, [&] { return t.api.get_memory_attributes(address, &out); });
    }
}

HAL_CASE("hal.memory_ext.get_memory_attributes.edge.struct_size", clauses{"45079/T2.1"}, authority::A,
         needs{E::get_memory_attributes, memory_io()})
(Test& t) {
    const hal_dptr ptr = t.device(100).ptr;
    const Query<hal_memory_attributes> query = [&](hal_memory_attributes* out) {
        return t.api.get_memory_attributes(ptr, out);
    };
    check_struct_sizes(t, query);
    check_struct_errors(t, query);
}

// ---- Registered host memory ----

HAL_CASE("hal.memory_ext.host_memory_register.norm.usable", clauses{"45079/T2.3"}, authority::A,
         needs{E::host_memory_register, E::host_memory_unregister, E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    constexpr uint64_t size = 100'003;
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, size);
    const DeviceBuffer& to = t.device(size);
    const hal_stream s = t.stream();
    t.ok(t.api.host_memory_register(0, source.data(), size));
    t.ok(t.api.async_memory_copy_h2d(0, s, to.ptr, source.data(), size));
    t.sync(s);
    t.expect(to, pattern, "data from registered memory");
    if (t.facts.has(E::get_memory_attributes)) {
        t.eq(HAL_MEMORY_HOST, attributes_of(t, reinterpret_cast<uint64_t>(source.data()) + 1).memory_kind, "kind");
    }
    t.ok(t.api.host_memory_unregister(0, source.data()));
    t.expect(source, pattern, "the caller's memory after it was unregistered");
}

HAL_CASE("hal.memory_ext.host_memory_register.err.refusals", clauses{"45079/T2.3"}, authority::A,
         needs{E::host_memory_register, E::host_memory_unregister})
(Test& t) {
    HostBuffer& buffer = t.host(8192);
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.host_memory_register(0, nullptr, 4096); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.host_memory_register(0, buffer.data(), 0); });
    t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_OUT_OF_HOST_MEMORY},
                [&] { return t.api.host_memory_register(0, buffer.data(), UINT64_MAX - 63); });
    t.ok(t.api.host_memory_register(0, buffer.data(), 8192));
    t.fails(HAL_ERROR_ALREADY_EXISTS, [&] { return t.api.host_memory_register(0, buffer.data(), 8192); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.host_memory_unregister(0, buffer.data() + 64); });
    t.ok(t.api.host_memory_unregister(0, buffer.data()));
}

HAL_CASE("hal.memory_ext.host_memory_unregister.norm.again", clauses{"45079/T2.4"}, authority::A,
         needs{E::host_memory_unregister, E::host_memory_register})
(Test& t) {
    HostBuffer& buffer = t.host(8192);
    for (int i = 0; i < 100; ++i) {
        t.ok(t.api.host_memory_register(0, buffer.data(), 8192));
        t.ok(t.api.host_memory_unregister(0, buffer.data()));
    }
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.host_memory_unregister(0, buffer.data()); });
}

HAL_CASE("hal.memory_ext.host_memory_unregister.err.unknown", clauses{"45079/T2.4"}, authority::A,
         needs{E::host_memory_unregister})
(Test& t) {
    HostBuffer& buffer = t.host(64);
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.host_memory_unregister(0, buffer.data()); });
    t.fails_any({HAL_ERROR_INVALID_HANDLE, HAL_ERROR_INVALID_ARGUMENT},
                [&] { return t.api.host_memory_unregister(0, nullptr); });
}

// ---- Peers ----

HAL_CASE("hal.memory_ext.peer_access_query.norm.answers", clauses{"45079/T2.10"}, authority::A,
         needs{E::peer_access_query, devices(2)})
(Test& t) {
    for (hal_dev a = 0; a < t.facts.device_count; ++a) {
        for (hal_dev b = 0; b < t.facts.device_count; ++b) {
            int32_t access = INT32_MIN;
            t.ok(t.api.peer_access_query(a, b, &access));
            t.check(access == 0 || access == 1, "0 or 1");
        }
    }
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.peer_access_query(0, 1, nullptr); });
}

HAL_CASE("hal.memory_ext.peer_access_enable.norm.pair", clauses{"45079/T2.10"}, authority::A,
         needs{E::peer_access_enable, E::peer_access_disable, E::peer_access_query, devices(2)})
(Test& t) {
    int32_t access = 0;
    t.ok(t.api.peer_access_query(0, 1, &access));
    if (access == 0) {
        t.fails(HAL_ERROR_UNSUPPORTED, [&] { return t.api.peer_access_enable(0, 1); });
        return;
    }
    for (int i = 0; i < 3; ++i) {
        t.ok(t.api.peer_access_enable(0, 1));
        t.ok(t.api.peer_access_disable(0, 1));
    }
}

HAL_CASE("hal.memory_ext.peer_access_disable.norm.copies_go_on", clauses{"45079/T2.10"}, authority::A,
         needs{E::peer_access_disable, E::peer_access_enable, E::peer_access_query, E::memory_copy_p2p, memory_io(),
               devices(2)})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 5000, 0);
    const DeviceBuffer& to = t.device(5000, 1);
    int32_t access = 0;
    t.ok(t.api.peer_access_query(0, 1, &access));
    if (access == 1) {
        t.ok(t.api.peer_access_enable(0, 1));
        t.ok(t.api.peer_access_disable(0, 1));
    }
    t.ok(t.api.memory_copy_p2p(1, to.ptr, 0, from.ptr, 5000));
    t.expect(to, pattern, "a copy needs no peer access");
}

// ---- Trim and peak ----

HAL_CASE("hal.memory_ext.memory_trim.norm.keeps_data", clauses{"45079/T2.16"}, authority::A,
         needs{E::memory_trim, memory_io(), E::device_memory_stats})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& kept = t.device(pattern, 100'003);
    DeviceBuffer& gone = t.device(pattern, 8U << 20U);
    t.release(gone);
    for (const uint64_t keep : {UINT64_MAX, uint64_t{1} << 20U, uint64_t{0}}) {
        t.ok(t.api.memory_trim(0, keep));
        hal_memory_stats stats{};
        stats.header.size = sizeof stats;
        t.ok(t.api.device_memory_stats(0, &stats));
        t.le(stats.cached_bytes, keep, "cached bytes after the trim");
        t.expect(kept, pattern, "live data after the trim");
    }
    t.expect(t.device(pattern, 8U << 20U), pattern, "new data after the trim");
}

HAL_CASE("hal.memory_ext.memory_reset_peak.norm.to_used", clauses{"45079/T2.16"}, authority::A,
         needs{E::memory_reset_peak, E::device_memory_allocate, E::device_memory_deallocate, E::device_memory_stats})
(Test& t) {
    hal_dptr ptr = 0;
    hal_dptr kept = 0;  // the peak falls to what is used, not to nothing
    t.ok(t.api.device_memory_allocate(0, 1U << 20U, &kept));
    t.ok(t.api.device_memory_allocate(0, 4U << 20U, &ptr));
    t.ok(t.api.device_memory_deallocate(0, ptr, 0));
    hal_memory_stats stats{};
    stats.header.size = sizeof stats;
    t.ok(t.api.device_memory_stats(0, &stats));
    t.le(uint64_t{4U << 20U}, stats.peak_bytes, "peak before");
    t.ok(t.api.memory_reset_peak(0));
    t.ok(t.api.device_memory_stats(0, &stats));
    t.eq(stats.used_bytes, stats.peak_bytes, "peak after");
    t.le(uint64_t{1U << 20U}, stats.peak_bytes, "the block that lives");
    t.ok(t.api.device_memory_deallocate(0, kept, 0));
}

// ---- Other processes ----

std::string hex(const hal_ipc_handle& handle) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const uint8_t byte : handle.bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

hal_ipc_handle unhex(const std::string& text) {
    hal_ipc_handle handle{};
    for (size_t i = 0; i < sizeof handle.bytes && 2 * i + 1 < text.size(); ++i) {
        handle.bytes[i] = static_cast<uint8_t>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
    }
    return handle;
}

constexpr uint64_t shared_size = 70'001;
constexpr Pattern parents{0xA11CE, 1};
constexpr Pattern childs{0xA11CE, 2};

// Reads what the parent wrote and overwrites it. The handle is of the address 128 bytes into the parent's allocation.
std::string import_memory(const Backend& backend, const std::vector<std::string>& arguments) {
    const Api& api = backend.api();
    const hal_ipc_handle handle = unhex(arguments.at(0));
    hal_dptr ptr = 0;
    if (const hal_status status = api.memory_ipc_import(0, &handle, &ptr); status != HAL_OK) {
        return "memory_ipc_import: " + to_string(status) + ": " + Host::last_error().text;
    }
    HostBuffer back(shared_size);
    if (api.memory_copy_d2h(0, back.data(), ptr, shared_size) != HAL_OK || compare(back.data(), parents, shared_size)) {
        return "the child does not read what the parent wrote";
    }
    back.write(childs);
    if (api.memory_copy_h2d(0, ptr, back.data(), shared_size) != HAL_OK) {
        return "the child cannot write the memory";
    }
    return api.memory_ipc_close(0, ptr) == HAL_OK ? "" : "memory_ipc_close: " + Host::last_error().text;
}
const ChildRegistration import_memory_role("import_memory", &import_memory);

HAL_CASE("hal.memory_ext.memory_ipc_export.norm.both_ways", clauses{"45079/T2.1"}, authority::A,
         needs{E::memory_ipc_export, E::memory_ipc_import, E::memory_ipc_close, memory_io()})
(Test& t) {
    const DeviceBuffer& buffer = t.device(parents, shared_size);
    hal_ipc_handle handle{};
    t.ok(t.api.memory_ipc_export(0, buffer.ptr, &handle));
    for (int i = 0; i < 2; ++i) {
        t.write(buffer, parents);
        t.eq(std::string(), run_child(t.target, "import_memory", {hex(handle)}, t.limits.finish), "the other process");
        t.expect(buffer, childs, "what the other process wrote");
    }
}

HAL_CASE("hal.memory_ext.memory_ipc_export.err.refusals", clauses{"45079/T2.1"}, authority::A,
         needs{E::memory_ipc_export, memory_io()})
(Test& t) {
    hal_ipc_handle handle{};
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.memory_ipc_export(0, t.device(256).ptr, nullptr); });
    t.fails_any({HAL_ERROR_INVALID_HANDLE, HAL_ERROR_INVALID_ARGUMENT},
                [&] { return t.api.memory_ipc_export(0, reinterpret_cast<hal_dptr>(&handle), &handle); });
}

HAL_CASE("hal.memory_ext.memory_ipc_import.norm.needs_a_process", clauses{"45079/T2.1"}, authority::A,
         needs{E::memory_ipc_import, E::memory_ipc_export, E::memory_ipc_close, memory_io()})
(Test& t) {
    // Importing in the exporting process either works like any import or is refused; it never gives wrong data.
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 5000);
    hal_ipc_handle handle{};
    t.ok(t.api.memory_ipc_export(0, buffer.ptr, &handle));
    hal_dptr ptr = 0;
    if (t.api.memory_ipc_import(0, &handle, &ptr) == HAL_OK) {
        HostBuffer back(5000);
        t.ok(t.api.memory_copy_d2h(0, back.data(), ptr, 5000));
        t.expect(back, pattern, "data through the import");
        t.ok(t.api.memory_ipc_close(0, ptr));
    } else {
        t.eq(hal_dptr{0}, ptr, "the output after the refusal");
    }
}

HAL_CASE("hal.memory_ext.memory_ipc_import.err.garbage", clauses{"45079/T2.1"}, authority::A,
         needs{E::memory_ipc_import})
(Test& t) {
    hal_dptr ptr = 77;
    hal_ipc_handle handle{};
    for (uint64_t i = 0; i < 50; ++i) {
        t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_INVALID_HANDLE, HAL_ERROR_NOT_FOUND},
                    [&] { return t.api.memory_ipc_import(0, &handle, &ptr); });
        Pattern(7, i).write(handle.bytes, sizeof handle.bytes);
    }
    t.eq(hal_dptr{77}, ptr, "the output after the refusals");
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.memory_ipc_import(0, nullptr, &ptr); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.memory_ipc_import(0, &handle, nullptr); });
}

HAL_CASE("hal.memory_ext.memory_ipc_close.norm.null", clauses{"45079/T2.1"}, authority::A,
         needs{E::memory_ipc_close, memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 512);
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.memory_ipc_close(0, buffer.base); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.memory_ipc_close(0, 1); });
    t.expect(buffer, pattern, "memory that is no import");
}

std::string import_event(const Backend& backend, const std::vector<std::string>& arguments) {
    const Api& api = backend.api();
    const hal_ipc_handle handle = unhex(arguments.at(0));
    hal_event event = nullptr;
    if (const hal_status status = api.event_ipc_import(0, &handle, &event); status != HAL_OK) {
        return "event_ipc_import: " + to_string(status) + ": " + Host::last_error().text;
    }
    const bool pending = arguments.at(1) == "pending";
    const hal_status status = api.synchronize_event(0, event, pending ? 50'000'000 : 10'000'000'000);
    const hal_status wanted = pending ? HAL_ERROR_TIMEOUT : HAL_OK;
    if (status != wanted) {
        return "synchronize_event in the child: expected " + to_string(wanted) + ", got " + to_string(status);
    }
    return api.destroy_event(0, event) == HAL_OK ? "" : "destroy_event: " + Host::last_error().text;
}
const ChildRegistration import_event_role("import_event", &import_event);

HAL_CASE("hal.event_ext.event_ipc_export.norm.across_processes", clauses{"45079/T4.1"}, authority::A,
         needs{E::event_ipc_export, E::event_ipc_import, E::create_event, E::destroy_event, E::record_event,
               E::synchronize_event, E::stream_add_callback})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event(0, HAL_EVENT_IPC);
    hal_ipc_handle handle{};
    t.ok(t.api.event_ipc_export(0, event, &handle));
    const Gate g = t.gate(s);
    t.ok(t.api.record_event(0, s, event));
    t.eq(std::string(), run_child(t.target, "import_event", {hex(handle), "pending"}, t.limits.finish),
         "behind a closed gate");
    g.open();
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    t.eq(std::string(), run_child(t.target, "import_event", {hex(handle), "complete"}, t.limits.finish),
         "once complete");
}

HAL_CASE("hal.event_ext.event_ipc_export.err.refusals", clauses{"45079/T4.1"}, authority::A,
         needs{E::event_ipc_export, E::create_event})
(Test& t) {
    hal_ipc_handle handle{};
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.event_ipc_export(0, t.event(), &handle); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.event_ipc_export(0, t.event(0, HAL_EVENT_IPC), nullptr); });
}

HAL_CASE("hal.event_ext.event_ipc_import.norm.same_process", clauses{"45079/T4.1"}, authority::A,
         needs{E::event_ipc_import, E::event_ipc_export, E::create_event, E::destroy_event, E::synchronize_event})
(Test& t) {
    const hal_event event = t.event(0, HAL_EVENT_IPC);
    hal_ipc_handle handle{};
    t.ok(t.api.event_ipc_export(0, event, &handle));
    hal_event imported = nullptr;
    if (t.api.event_ipc_import(0, &handle, &imported) == HAL_OK) {
        t.ok(t.api.synchronize_event(0, imported, HAL_NO_TIMEOUT));
        t.ok(t.api.destroy_event(0, imported));
    } else {
        t.check(imported == nullptr, "the output after the refusal");
    }
}

HAL_CASE("hal.event_ext.event_ipc_import.err.garbage", clauses{"45079/T4.1"}, authority::A, needs{E::event_ipc_import})
(Test& t) {
    hal_event event = nullptr;
    hal_ipc_handle handle{};
    for (uint64_t i = 0; i < 50; ++i) {
        t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_INVALID_HANDLE, HAL_ERROR_NOT_FOUND},
                    [&] { return t.api.event_ipc_import(0, &handle, &event); });
        Pattern(8, i).write(handle.bytes, sizeof handle.bytes);
    }
    t.check(event == nullptr, "the output after the refusals");
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.event_ipc_import(0, nullptr, &event); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.event_ipc_import(0, &handle, nullptr); });
}

}  // namespace
}  // namespace hal::conformance
