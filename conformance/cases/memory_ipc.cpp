// memory_ext: memory of other processes.
#include "harness/child.hpp"
#include "ipc_handle.hpp"

namespace hal::conformance {
namespace {

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

}  // namespace
}  // namespace hal::conformance
