// Tables 1 to 4: every entry with an output writes it on success, leaves it alone on failure, and refuses a NULL one.
#include <array>

#include "harness/test.hpp"

namespace hal::conformance {
namespace {

// Two fills, so that a value that happens to equal one of them is not taken for an unwritten output.
constexpr std::array<uint8_t, 2> fills{poison, 0x5A};

template <class T>
struct Output {
    explicit Output(uint8_t with) : fill(with) { std::memset(&value, fill, sizeof value); }
    [[nodiscard]] bool untouched() const { return !compare(&value, fill, sizeof value); }
    uint8_t fill;
    T value;
};

// Query structs begin with a header of the caller's.
template <class T>
struct Query {
    explicit Query(uint8_t with) : fill(with) {
        std::memset(&value, fill, sizeof value);
        value.header = {sizeof value, 0, nullptr};
    }
    [[nodiscard]] bool untouched() const {
        return !compare(reinterpret_cast<const uint8_t*>(&value) + sizeof value.header, fill,
                        sizeof value - sizeof value.header);
    }
    uint8_t fill;
    T value;
};

template <class Out, class Call, class Release>
void check_written(Test& t, const Call& call, const Release& release) {
    bool written = false;
    for (const uint8_t fill : fills) {
        Out out(fill);
        if (t.ok(call(&out.value)) && !out.untouched()) {
            written = true;
            release(out.value);
        }
    }
    t.check(written, "the output was written");
}

template <class Out, class Call>
void check_untouched(Test& t, const Call& call) {
    Out out(poison);
    t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return call(&out.value); });
    t.check(out.untouched(), "the output is untouched by the refusal");
}

// `call` and `release` are expressions over `t`, `dev` and `out`, the address of the output, or the output itself.
#define OUTPUT_WRITTEN(table, row, entry, Out, call, release, ...)                                              \
    HAL_CASE("45079.T" #table "." #entry ".norm.out_written", clauses{"45079/T" #table "." #row}, authority::D, \
             needs{E::entry, __VA_ARGS__})                                                                      \
    (Test & t) {                                                                                                \
        [[maybe_unused]] const hal_dev dev = 0;                                                                 \
        check_written<Out>(                                                                                     \
            t, [&](auto* out) { return t.api.entry call; }, [&]([[maybe_unused]] auto out) { release; });       \
    }

#define OUTPUT_REFUSALS(table, row, entry, Out, call, ...)                                                       \
    HAL_CASE("45079.T" #table "." #entry ".err.out_untouched", clauses{"45079/T" #table "." #row}, authority::A, \
             needs{E::entry, __VA_ARGS__})                                                                       \
    (Test & t) {                                                                                                 \
        [[maybe_unused]] const hal_dev dev = t.facts.device_count;                                               \
        check_untouched<Out>(t, [&](auto* out) { return t.api.entry call; });                                    \
    }

// A refusal that makes nothing: what it made would be alive when the test finalizes, which is BUSY then.
#define OUTPUT_NULL(table, row, entry, Out, call, ...)                                                      \
    HAL_CASE("45079.T" #table "." #entry ".err.null_out", clauses{"45079/T" #table "." #row}, authority::A, \
             needs{E::entry, __VA_ARGS__})                                                                  \
    (Test & t) {                                                                                            \
        [[maybe_unused]] const hal_dev dev = t.facts.device_count - 1;                                      \
        decltype(Out::value)* const out = nullptr;                                                          \
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.entry call; });                              \
    }

#define OUTPUT(table, row, entry, Out, call, release, ...)             \
    OUTPUT_WRITTEN(table, row, entry, Out, call, release, __VA_ARGS__) \
    OUTPUT_REFUSALS(table, row, entry, Out, call, __VA_ARGS__)         \
    OUTPUT_NULL(table, row, entry, Out, call, __VA_ARGS__)

char text[256];

OUTPUT(1, 1, get_device_name, Output<uint64_t>, (dev, text, sizeof text, out), (void)0)
OUTPUT(1, 2, get_device_type, Output<uint64_t>, (dev, text, sizeof text, out), (void)0)
OUTPUT(1, 3, get_driver_version, Query<hal_version>, (dev, out), (void)0)
OUTPUT(1, 4, get_runtime_version, Query<hal_version>, (dev, out), (void)0)
OUTPUT_WRITTEN(1, 6, get_device, Output<hal_dev>, (out), (void)0)
OUTPUT_NULL(1, 6, get_device, Output<hal_dev>, (out))
OUTPUT_WRITTEN(1, 8, get_device_count, Output<int32_t>, (out), (void)0)
OUTPUT_NULL(1, 8, get_device_count, Output<int32_t>, (out))
OUTPUT(1, 10, get_compute_capability, Query<hal_compute_capability>, (dev, out), (void)0)

OUTPUT(2, 1, device_memory_allocate, Output<hal_dptr>, (dev, 256, out),
       t.ok(t.api.device_memory_deallocate(0, out, 256)), E::device_memory_deallocate)
OUTPUT(2, 3, host_memory_allocate, Output<void*>, (dev, 256, out), t.ok(t.api.host_memory_deallocate(0, out, 256)),
       E::host_memory_deallocate)
OUTPUT(2, 5, unified_memory_allocate, Output<hal_dptr>, (dev, 256, out),
       t.ok(t.api.unified_memory_deallocate(0, out, 256)), E::unified_memory_deallocate)
OUTPUT(2, 16, device_memory_stats, Query<hal_memory_stats>, (dev, out), (void)0)
OUTPUT(2, 17, device_min_chunk_size, Output<uint64_t>, (dev, out), (void)0)
OUTPUT(2, 18, device_max_chunk_size, Output<uint64_t>, (dev, out), (void)0)
OUTPUT(2, 19, device_max_alloc_size, Output<uint64_t>, (dev, out), (void)0)
OUTPUT(2, 20, device_extra_padding_size, Output<uint64_t>, (dev, out), (void)0)
OUTPUT(2, 21, device_init_alloc_size, Output<uint64_t>, (dev, out), (void)0)
OUTPUT(2, 22, device_realloc_size, Output<uint64_t>, (dev, out), (void)0)

OUTPUT(3, 1, create_stream, Output<hal_stream>, (dev, nullptr, out), t.ok(t.api.destroy_stream(0, out)),
       E::destroy_stream)
OUTPUT_WRITTEN(3, 3, query_stream, Query<hal_stream_info>, (dev, nullptr, out), (void)0)
OUTPUT_REFUSALS(3, 3, query_stream, Query<hal_stream_info>, (dev, nullptr, out))
OUTPUT_WRITTEN(4, 1, create_event, Output<hal_event>, (dev, nullptr, out), t.ok(t.api.destroy_event(0, out)),
               E::destroy_event)
OUTPUT_REFUSALS(4, 1, create_event, Output<hal_event>, (dev, nullptr, out))

// get_device_list has an array and a number.
HAL_CASE("45079.T1.get_device_list.norm.out_written", clauses{"45079/T1.9"}, authority::D, needs{E::get_device_list})
(Test& t) {
    const auto count = static_cast<uint32_t>(t.facts.device_count);
    for (const uint8_t fill : fills) {
        const HostBuffer room(count * sizeof(hal_dev));
        std::memset(room.data(), fill, room.size());
        Output<uint32_t> number(fill);
        t.ok(t.api.get_device_list(reinterpret_cast<hal_dev*>(room.data()), count, &number.value));
        t.check(!number.untouched(), "the number was written");
        t.check(compare(room.data(), fill, room.size()).has_value(), "the array was written");
        t.check(room.guards_intact(), "nothing around the array was written");
    }
}

}  // namespace
}  // namespace hal::conformance
