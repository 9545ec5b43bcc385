// event_ext: events of other processes.
#include "harness/child.hpp"
#include "ipc_handle.hpp"

namespace hal::conformance {
namespace {

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
