// Handles that are no live object: never made, destroyed, or of another device. INVALID_HANDLE, and nothing else
// happens.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

over bad_handles() {
    return {"handle", {"garbage", "stale"}};
}
over bad_streams() {
    return {"handle", {"garbage", "stale", Value("other_device", {devices(2)})}};
}

// Memory that is ours, so that a plug-in that looks behind the handle reads zeros instead of crashing.
alignas(64) uint8_t zeros[4096];

hal_stream bad_stream(Test& t) {
    if (t.param("handle") == "garbage") {
        return reinterpret_cast<hal_stream>(zeros);
    }
    const hal_stream made = t.stream(t.param("handle") == "other_device" ? 1 : 0);
    if (t.param("handle") == "stale") {
        t.ok(t.api.destroy_stream(0, made));
        t.forget(made);
    }
    return made;
}

hal_event bad_event(Test& t) {
    if (t.param("handle") == "garbage") {
        return reinterpret_cast<hal_event>(zeros);
    }
    const hal_event made = t.event();
    t.ok(t.api.destroy_event(0, made));
    t.forget(made);
    return made;
}

bool has_memory(const Test& t) {
    return t.facts.has(E::device_memory_allocate) && t.facts.has(E::memory_copy_h2d);
}

void nothing(void*, hal_dev, hal_stream, hal_status) {}

// The buffers come first: a bad handle must be bad while everything else is right.
#define BAD_STREAM(id, clause, entry, extra, ...)                                                                   \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::entry, E::create_stream, E::destroy_stream, extra},        \
             bad_streams())                                                                                         \
    (Test & t) {                                                                                                    \
        [[maybe_unused]] uint64_t out = 0;                                                                          \
        [[maybe_unused]] hal_stream_info stream_info{{sizeof(hal_stream_info), 0, nullptr}, 0, 0, 0, HAL_OK, 0, 0}; \
        [[maybe_unused]] const hal_dptr ptr = has_memory(t) ? t.device(512).ptr : 0;                                \
        [[maybe_unused]] uint8_t* host = t.host(512).data();                                                        \
        [[maybe_unused]] const hal_event event = t.event();                                                         \
        const hal_stream s = bad_stream(t);                                                                         \
        t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.entry(__VA_ARGS__); });                                \
    }

BAD_STREAM("45079.T3.destroy_stream.err.unknown_handle", "45079/T3.2", destroy_stream, E::create_event, 0, s)
BAD_STREAM("45079.T3.query_stream.err.unknown_handle", "45079/T3.3", query_stream, E::create_event, 0, s, &stream_info)
BAD_STREAM("45079.T3.synchronize_stream.err.unknown_handle", "45079/T3.4", synchronize_stream, E::create_event, 0, s,
           HAL_NO_TIMEOUT)
BAD_STREAM("45079.T3.stream_add_callback.err.unknown_handle", "45079/T3.5", stream_add_callback, E::create_event, 0, s,
           &nothing, nullptr)
BAD_STREAM("45079.T3.stream_wait_event.err.unknown_stream", "45079/T3.6", stream_wait_event, E::create_event, 0, s,
           event)
BAD_STREAM("45079.T4.record_event.err.unknown_stream", "45079/T4.3", record_event, E::create_event, 0, s, event)
BAD_STREAM("hal.stream_ext.reset_stream.err.unknown_handle", "45079/T3.1", reset_stream, E::create_event, 0, s)
BAD_STREAM("hal.stream_ext.stream_native_handle.err.unknown_handle", "45079/T3.1", stream_native_handle,
           E::create_event, 0, s, &out)
BAD_STREAM("45079.T2.async_memory_copy_h2d.err.unknown_stream", "45079/T2.11", async_memory_copy_h2d, memory_io(), 0, s,
           ptr, host, 512)
BAD_STREAM("45079.T2.async_memory_copy_d2h.err.unknown_stream", "45079/T2.12", async_memory_copy_d2h, memory_io(), 0, s,
           host, ptr, 512)
BAD_STREAM("45079.T2.async_memory_copy_d2d.err.unknown_stream", "45079/T2.13", async_memory_copy_d2d, memory_io(), 0, s,
           ptr, ptr + 256, 256)
BAD_STREAM("45079.T2.async_memory_copy_p2p.err.unknown_stream", "45079/T2.14", async_memory_copy_p2p, memory_io(), 0,
           ptr, 0, ptr + 256, s, 256)
BAD_STREAM("hal.memory_ext.async_memory_set.err.unknown_stream", "46345/T5", async_memory_set, memory_io(), 0, s, ptr,
           1, 512)
BAD_STREAM("hal.memory_ext.async_memory_allocate.err.unknown_stream", "46345/T5", async_memory_allocate, memory_io(), 0,
           s, 512, &out)
BAD_STREAM("hal.memory_ext.async_memory_deallocate.err.unknown_stream", "46345/T5", async_memory_deallocate,
           memory_io(), 0, s, ptr)

#define BAD_EVENT(id, clause, entry, ...)                                                                          \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::entry, E::create_event, E::destroy_event}, bad_handles()) \
    (Test & t) {                                                                                                   \
        [[maybe_unused]] int64_t elapsed = 0;                                                                      \
        [[maybe_unused]] hal_ipc_handle handle{};                                                                  \
        const hal_event e = bad_event(t);                                                                          \
        t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.entry(__VA_ARGS__); });                               \
    }

BAD_EVENT("45079.T3.stream_wait_event.err.unknown_event", "45079/T3.6", stream_wait_event, 0, nullptr, e)
BAD_EVENT("45079.T4.destroy_event.err.unknown_handle", "45079/T4.2", destroy_event, 0, e)
BAD_EVENT("45079.T4.record_event.err.unknown_event", "45079/T4.3", record_event, 0, nullptr, e)
BAD_EVENT("45079.T4.query_event.err.unknown_handle", "45079/T4.4", query_event, 0, e)
BAD_EVENT("45079.T4.synchronize_event.err.unknown_handle", "45079/T4.5", synchronize_event, 0, e, HAL_NO_TIMEOUT)
BAD_EVENT("hal.event_ext.event_elapsed.err.unknown_handle", "45079/T4.1", event_elapsed, e, e, &elapsed)
BAD_EVENT("hal.event_ext.event_ipc_export.err.unknown_handle", "45079/T4.1", event_ipc_export, 0, e, &handle)

#define NULL_EVENT(id, clause, entry, ...)                                           \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::entry})                     \
    (Test & t) {                                                                     \
        t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.entry(__VA_ARGS__); }); \
    }

NULL_EVENT("45079.T3.stream_wait_event.err.null_event", "45079/T3.6", stream_wait_event, 0, nullptr, nullptr)
NULL_EVENT("45079.T4.destroy_event.err.null_handle", "45079/T4.2", destroy_event, 0, nullptr)
NULL_EVENT("45079.T4.record_event.err.null_event", "45079/T4.3", record_event, 0, nullptr, nullptr)
NULL_EVENT("45079.T4.query_event.err.null_handle", "45079/T4.4", query_event, 0, nullptr)
NULL_EVENT("45079.T4.synchronize_event.err.null_handle", "45079/T4.5", synchronize_event, 0, nullptr, HAL_NO_TIMEOUT)
NULL_EVENT("45079.T3.destroy_stream.err.null_stream", "45079/T3.2", destroy_stream, 0, nullptr)

}  // namespace
}  // namespace hal::conformance
