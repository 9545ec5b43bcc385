// What a case says about itself, and the list of all cases. A case is registered where it is written:
//
//   HAL_CASE("45079.T4.record_event.order.not_early", clauses{"45079/T4.3"}, authority::S, needs{E::record_event,
//   a_gate}) (Test& t) { ... }
//
// The id is stable for ever. Whether a case applies is decided from `needs` before its first call, never inside the
// body.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"
#include "authority.hpp"
#include "hal/plugin.h"

namespace hal::conformance {

class Test;

// Clauses that a case shows: "45079/T2.7" is row 7 of table 2.
struct clauses {
    std::vector<std::string_view> list;
    clauses(std::initializer_list<std::string_view> values) : list(values) {}
};

// How long a case may take before it hangs: 10 s, 60 s, 300 s (times --timeout-mult).
enum class cls : uint8_t { fast, medium, long_ };

// The case reads figures of the whole device or process (free memory, threads): nothing may run beside it.
struct exclusive_t {};
inline constexpr exclusive_t exclusive{};

struct Need {
    enum class Kind : uint8_t {
        entry,
        devices,
        device_flag,
        op,
        no_backend_flag,
        any_work,
        gate,
        claim,
        no_claim,
        offered,
        memory,
        ranks
    };
    Kind kind;
    uint32_t value = 0;
    std::string_view text;
};

[[nodiscard]] constexpr Need devices(uint32_t count) {
    return {Need::Kind::devices, count, {}};
}
[[nodiscard]] constexpr Need op(std::string_view name) {
    return {Need::Kind::op, 0, name};
}
// A kernel of the operator for elements of this type ("f32"); both texts are literals.
[[nodiscard]] Need op(std::string_view name, std::string_view type);
[[nodiscard]] constexpr Need need_entry(E entry) {
    return {Need::Kind::entry, static_cast<uint32_t>(entry), {}};
}

// In the table, or claimed by the manifest: for the cases on presence itself.
[[nodiscard]] constexpr Need offered(E entry) {
    return {Need::Kind::offered, static_cast<uint32_t>(entry), {}};
}
// Free on each device and at the host.
[[nodiscard]] constexpr Need device_memory(uint32_t mib) {
    return {Need::Kind::memory, mib, {}};
}

// Place for so many ranks: devices of their own, or one device that several processes were seen to share.
[[nodiscard]] constexpr Need place_for(uint32_t ranks) {
    return {Need::Kind::ranks, ranks, {}};
}

// Claims of get_device_properties.
inline constexpr Need concurrent_streams{Need::Kind::device_flag, HAL_DEVICE_CONCURRENT_STREAMS, "concurrent streams"};
inline constexpr Need host_accessible{Need::Kind::device_flag, HAL_DEVICE_HOST_ACCESSIBLE,
                                      "host-accessible device memory"};
// Flags of the descriptor that make the case void: the plug-in works in a forked child, or asks its host to let one
// thread in at a time, in all or on each stream. Every case that calls from several threads at once needs free_threads.
inline constexpr Need no_fork_claim{Need::Kind::no_backend_flag, HAL_BACKEND_FORK_SAFE, "claims to work after a fork"};
inline constexpr Need free_threads{Need::Kind::no_backend_flag, HAL_BACKEND_SERIALIZE_ALL,
                                   "asks for one thread at a time"};
inline constexpr Need free_streams{Need::Kind::no_backend_flag,
                                   HAL_BACKEND_SERIALIZE_ALL | HAL_BACKEND_SERIALIZE_STREAM,
                                   "asks for one thread at a time on a stream"};
// At least one way to give a stream asynchronous work.
inline constexpr Need any_work{Need::Kind::any_work, 0, {}};
// A gate for t.gate(stream): a host callback, or else a load of copies (gate.hpp).
inline constexpr Need a_gate{Need::Kind::gate, 0, {}};
// /backend/claims/behaviour of the manifest names it, or does not.
[[nodiscard]] constexpr Need claim(std::string_view behaviour) {
    return {Need::Kind::claim, 0, behaviour};
}
[[nodiscard]] constexpr Need no_claim(std::string_view behaviour) {
    return {Need::Kind::no_claim, 0, behaviour};
}

// "memory_copy_h2d", "2 devices", "a gate".
[[nodiscard]] std::string text_of(const Need& need);

// One or several needs under a name.
struct NeedGroup {
    std::vector<Need> list;
    NeedGroup(Need need) : list{need} {}             // NOLINT(google-explicit-constructor): needs{E::x, devices(2)}
    NeedGroup(E entry) : list{need_entry(entry)} {}  // NOLINT(google-explicit-constructor)
    NeedGroup(std::initializer_list<E> entries_list) {
        for (const E entry : entries_list) {
            list.push_back(need_entry(entry));
        }
    }
};

// Device memory that the suite can write and read back.
[[nodiscard]] const NeedGroup& memory_io();

struct needs {
    std::vector<Need> list;
    needs(std::initializer_list<NeedGroup> groups) {
        for (const auto& group : groups) {
            list.insert(list.end(), group.list.begin(), group.list.end());
        }
    }
};

// A parameter of a case and its values; each value may need more of the plug-in. The case runs once for each.
struct Value {
    std::string_view text;
    std::vector<Need> needs;
    Value(std::string_view t) : text(t) {}  // NOLINT(google-explicit-constructor): over("dev", {"-1", "count"})
    Value(const char* t) : text(t) {}       // NOLINT(google-explicit-constructor)
    Value(std::string_view t, std::vector<Need> n) : text(t), needs(std::move(n)) {}
};
struct over {
    std::string_view name;
    std::vector<Value> values;
    over(std::string_view n, std::vector<Value> v) : name(n), values(std::move(v)) {}
};
// over("src", ...): every kind of asynchronous work that the plug-in may offer.
[[nodiscard]] over work_sources();
// over("dtype", ...): a kernel of the operator for each of these types.
[[nodiscard]] over dtypes_of(std::string_view op_name, std::initializer_list<std::string_view> types);
// over("ranks", ...): the case runs in so many processes at once (ranks.hpp), 2 first, 1 to 8 in all.
[[nodiscard]] over number_of_ranks(uint32_t least = 1);
// The same, only these.
[[nodiscard]] over so_many_ranks(std::initializer_list<uint32_t> counts);
// over("dev", ...): indices that are no device.
[[nodiscard]] over bad_devices();

struct Case {
    std::string_view id;
    std::string_view file;
    int line = 0;
    void (*body)(Test&) = nullptr;
    std::vector<std::string_view> clauses;
    enum authority authority = authority::A;
    std::vector<Need> needs;
    std::vector<over> axes;
    enum cls cls = cls::fast;
    bool exclusive = false;

    void add(over axis) { axes.push_back(std::move(axis)); }
    void add(enum cls value) { cls = value; }
    void add(exclusive_t) { exclusive = true; }
};

// One run of a case: with its parameters its id is "<id>[name=value,...]".
struct Instance {
    const Case* origin = nullptr;
    std::string id;
    std::vector<Need> needs;
    std::map<std::string_view, std::string_view> params;
};

[[nodiscard]] std::vector<Case>& all_cases();
[[nodiscard]] std::vector<Instance> expand(const Case& one);
// Of all cases, sorted by id.
[[nodiscard]] std::vector<Instance> all_instances();

// The entry that an id is about ("45079.T2.<entry>.norm.full", "hal.memory_ext.<entry>.norm.full"); nullptr for a rule
// over several entries.
[[nodiscard]] const EntryInfo* entry_of(std::string_view id);

// Whatever the plug-in is for. The mandatory rows of tables 5 and 7 bind only on their route (GB/T 45079 6.1).
[[nodiscard]] bool mandatory(const EntryInfo& entry);

// Everything that is wrong with the registrations: damaged or double ids, no clause, an id whose entry is not needed.
[[nodiscard]] std::vector<std::string> catalogue_faults(const std::vector<Case>& cases);

struct Registration {
    // Behind the needs, in any order: over(...), cls::medium, exclusive.
    template <class... Rest>
    Registration(Case head, clauses c, enum authority a, needs n, Rest... rest) {
        head.clauses = std::move(c.list);
        head.authority = a;
        head.needs = std::move(n.list);
        (head.add(std::move(rest)), ...);
        all_cases().push_back(std::move(head));
    }
};

#define HAL_CASE(id, ...) HAL_CASE_NUMBERED(__COUNTER__, id, __VA_ARGS__)
#define HAL_CASE_NUMBERED(number, ...) HAL_CASE_JOINED(number, __VA_ARGS__)
#define HAL_CASE_JOINED(number, ...) HAL_CASE_NAMED(case_##number, __VA_ARGS__)
#define HAL_CASE_NAMED(name, id, ...)                                                                          \
    static void name(Test&);                                                                                   \
    static const Registration name##_registration(Case{id, __FILE__, __LINE__, &name, {}, {}, {}, {}, {}, {}}, \
                                                  __VA_ARGS__);                                                \
    static void name

}  // namespace hal::conformance
