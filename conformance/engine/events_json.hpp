// The events as JSON. The names of the fields are those of the structs.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>

#include "events.hpp"

namespace nlohmann {

template <class T>
struct adl_serializer<std::optional<T>> {
    static void to_json(json& to, const std::optional<T>& from) { to = from ? json(*from) : json(nullptr); }
    static void from_json(const json& from, std::optional<T>& to) {
        to = from.is_null() ? std::nullopt : std::optional<T>(from.get<T>());
    }
};

}  // namespace nlohmann

namespace hal::conformance {

NLOHMANN_JSON_SERIALIZE_ENUM(authority,
                             {{authority::A, "A"}, {authority::S, "S"}, {authority::D, "D"}, {authority::Q, "Q"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Ending::Kind, {{Ending::Kind::refused, "refused"},
                                            {Ending::Kind::end, "end"},
                                            {Ending::Kind::exited, "exited"},
                                            {Ending::Kind::signalled, "signalled"},
                                            {Ending::Kind::limit, "limit"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, where, what, expected, got, authority)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Record, checks_ok, checks_bad, findings, inconclusive, harness_error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ending, kind, code, text, stacks)
// JSON has no NaN: a figure that is none is null, and must not make the log unreadable.
inline void to_json(nlohmann::json& to, const Metric& from) {
    to = {{"name", from.name}, {"value", from.value}, {"unit", from.unit}};
}
inline void from_json(const nlohmann::json& from, Metric& to) {
    from.at("name").get_to(to.name);
    to.value = from.at("value").is_null() ? std::numeric_limits<double>::quiet_NaN() : from.at("value").get<double>();
    from.at("unit").get_to(to.unit);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Attempt, ending, record, stdout_bytes, stderr_bytes, output, children_left, metrics,
                                   meters, ms)

inline void to_json(nlohmann::json& to, Verdict from) {
    to = name(from);
}
inline void from_json(const nlohmann::json& from, Verdict& to) {
    to = verdict_of(from.get<std::string>());
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Judgement, verdict, breaks_standard, reason)

void to_json(nlohmann::json& to, const Facts& from);
void from_json(const nlohmann::json& from, Facts& to);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Identity::Device, name, type, driver_version, runtime_version, compute_capability)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Identity, name, vendor, version, build, abi_version, table_bytes, devices)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BeginEvent::Suite, version, catalogue, build)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BeginEvent::Target, id, manifest, manifest_sha256, library, library_sha256, options)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BeginEvent::Run, command, seed, shuffled, isolation, timeout_mult, jobs, repeat,
                                   profile, partial, shard, shards)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BeginEvent, schema, time, suite, target, host, run, planned)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FactsEvent, facts, identity)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TestEvent, id, seed, time, ms, not_run, attempts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EndEvent, time, interrupted, device_lost, failure)

}  // namespace hal::conformance
