// Tables 1 to 4: before initialize and after the last finalize there is nothing to work with.
#include "before_init.hpp"

namespace hal::conformance {
namespace {

void expect(Test& t, const Api& api, const RawCall& call, Rule rule, std::string_view when) {
    if (rule == Rule::refuses) {
        t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return call(api); });
        return;
    }
    if (rule == Rule::no_object) {
        t.fails_any(
            {HAL_ERROR_NOT_INITIALIZED, HAL_ERROR_INVALID_HANDLE, HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_NOT_FOUND},
            [&] { return call(api); });
        return;
    }
    const hal_status first = call(api);
    t.check(first >= HAL_OK || first == HAL_ERROR_NOT_INITIALIZED,
            "answers, or says NOT_INITIALIZED, " + std::string(when));
    t.eq(first, call(api), "the same answer again " + std::string(when));
}

}  // namespace

void check_before_init(Test& t, const RawCall& call, Rule rule) {
    const auto other = t.another();
    expect(t, other->api(), call, rule, "before initialize");
    t.ok(other->api().initialize(), "initialize after that");
    t.ok(other->api().finalize());
}

void check_after_finalize(Test& t, const RawCall& call, Rule rule) {
    const auto other = t.another();
    t.ok(other->api().initialize());
    t.ok(other->api().finalize());
    expect(t, other->api(), call, rule, "after finalize");
    t.ok(other->api().initialize(), "initialize after that");
    t.ok(other->api().finalize());
}

namespace {

#define UNINITIALIZED(table, row, entry, rule, ...)                                                               \
    static hal_status uninitialized_##entry(const Api& api) {                                                     \
        [[maybe_unused]] char text[64];                                                                           \
        [[maybe_unused]] uint64_t size = 0;                                                                       \
        [[maybe_unused]] int32_t number = 0;                                                                      \
        [[maybe_unused]] uint32_t count = 0;                                                                      \
        [[maybe_unused]] void* memory = nullptr;                                                                  \
        [[maybe_unused]] hal_stream stream = nullptr;                                                             \
        [[maybe_unused]] hal_event event = nullptr;                                                               \
        [[maybe_unused]] hal_version version{{sizeof(hal_version), 0, nullptr}, 0, 0, 0, 0, {}};                  \
        [[maybe_unused]] hal_memory_stats stats{{sizeof(hal_memory_stats), 0, nullptr}, 0, 0, 0, 0, 0, 0};        \
        [[maybe_unused]] hal_compute_capability capability{                                                       \
            {sizeof(hal_compute_capability), 0, nullptr}, 0, 0, 0, 0, {}};                                        \
        return api.entry(__VA_ARGS__);                                                                            \
    }                                                                                                             \
    HAL_CASE("45079.T" #table "." #entry ".err.before_init", clauses{"45079/T" #table "." #row}, authority::A,    \
             needs{E::entry, E::initialize, E::finalize})                                                         \
    (Test & t) {                                                                                                  \
        check_before_init(t, &uninitialized_##entry, rule);                                                       \
    }                                                                                                             \
    HAL_CASE("45079.T" #table "." #entry ".err.after_finalize", clauses{"45079/T" #table "." #row}, authority::A, \
             needs{E::entry, E::initialize, E::finalize})                                                         \
    (Test & t) {                                                                                                  \
        check_after_finalize(t, &uninitialized_##entry, rule);                                                    \
    }

UNINITIALIZED(1, 1, get_device_name, Rule::may_answer, 0, text, sizeof text, &size)
UNINITIALIZED(1, 2, get_device_type, Rule::may_answer, 0, text, sizeof text, &size)
UNINITIALIZED(1, 3, get_driver_version, Rule::may_answer, 0, &version)
UNINITIALIZED(1, 4, get_runtime_version, Rule::may_answer, 0, &version)
UNINITIALIZED(1, 5, set_device, Rule::may_answer, 0)
UNINITIALIZED(1, 6, get_device, Rule::may_answer, &number)
UNINITIALIZED(1, 7, synchronize_device, Rule::refuses, 0, HAL_NO_TIMEOUT)
UNINITIALIZED(1, 8, get_device_count, Rule::may_answer, &number)
UNINITIALIZED(1, 9, get_device_list, Rule::may_answer, &number, 1, &count)
UNINITIALIZED(1, 10, get_compute_capability, Rule::may_answer, 0, &capability)

UNINITIALIZED(2, 1, device_memory_allocate, Rule::refuses, 0, 256, &size)
UNINITIALIZED(2, 3, host_memory_allocate, Rule::refuses, 0, 256, &memory)
UNINITIALIZED(2, 5, unified_memory_allocate, Rule::refuses, 0, 256, &size)
UNINITIALIZED(2, 16, device_memory_stats, Rule::may_answer, 0, &stats)
UNINITIALIZED(2, 17, device_min_chunk_size, Rule::may_answer, 0, &size)
UNINITIALIZED(2, 18, device_max_chunk_size, Rule::may_answer, 0, &size)
UNINITIALIZED(2, 19, device_max_alloc_size, Rule::may_answer, 0, &size)
UNINITIALIZED(2, 20, device_extra_padding_size, Rule::may_answer, 0, &size)
UNINITIALIZED(2, 21, device_init_alloc_size, Rule::may_answer, 0, &size)
UNINITIALIZED(2, 22, device_realloc_size, Rule::may_answer, 0, &size)

UNINITIALIZED(3, 1, create_stream, Rule::refuses, 0, nullptr, &stream)
UNINITIALIZED(4, 1, create_event, Rule::refuses, 0, nullptr, &event)

}  // namespace
}  // namespace hal::conformance
