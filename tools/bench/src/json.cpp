#include "json.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace hal::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            const size_t value = line.find(": ");
            return value == std::string::npos ? line : line.substr(value + 2);
        }
    }
    return "unknown";
}

Json optional_number(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json side(const std::string& what, const Side& figures) {
    return {{"what", what}, {"median", figures.median}, {"best", figures.best}, {"samples", figures.samples}};
}

Json probe(const ProbeResult& result) {
    return {{"round_trip_ns", optional_number(result.round_trip_ns)}, {"foreign_cpu", result.foreign_cpu}};
}

const char* name(GoalKind kind) {
    switch (kind) {
        case GoalKind::none:
            return "none";
        case GoalKind::ratio_at_most:
            return "ratio_at_most";
        case GoalKind::ratio_at_least:
            return "ratio_at_least";
        case GoalKind::value_at_most:
            return "value_at_most";
        case GoalKind::value_at_least:
            return "value_at_least";
        case GoalKind::excess_at_most:
            return "excess_at_most";
    }
    return "none";
}

Json to_json(const Row& row) {
    const Benchmark& benchmark = row.benchmark;
    Json out{{"name", benchmark.name},
             {"unit", benchmark.unit},
             {"better", benchmark.better == Better::lower ? "lower" : "higher"},
             {"ours", row.ours.samples.empty() ? Json(nullptr) : side(benchmark.ours, row.ours)},
             {"peer", row.peer ? side(benchmark.peer, *row.peer) : Json(nullptr)},
             {"ratio", optional_number(row.ratio)},
             {"best_ratio", optional_number(row.best_ratio)},
             {"spread", row.spread},
             {"goal", nullptr},
             {"verdict", std::string(name(row.verdict))},
             {"note", row.note},
             {"reason", row.reason},
             {"tries", row.tries},
             {"probe", {{"before", probe(row.before)}, {"after", probe(row.after)}}}};
    if (benchmark.goal.kind != GoalKind::none) {
        out["goal"] = {{"kind", name(benchmark.goal.kind)},
                       {"bound", benchmark.goal.bound},
                       {"text", benchmark.goal.text(benchmark.unit)}};
    }
    return out;
}

Json machine() {
    utsname system{};
    uname(&system);
    return {{"cpu", cpu_model()},
            {"cpus", sysconf(_SC_NPROCESSORS_ONLN)},
            {"kernel", std::string(system.release)},
            {"compiler", "gcc-compatible " __VERSION__},
            {"build_defect", build_defect()}};
}

}  // namespace

std::string to_json(const std::vector<Row>& rows, const RunInfo& info) {
    Json list = Json::array();
    for (const auto& row : rows) {
        list.push_back(to_json(row));
    }
    const Json document{{"schema_version", "1.0"},
                        {"machine", machine()},
                        {"run",
                         {{"backend", info.backend},
                          {"backend_version", info.backend_version},
                          {"quick", info.settings.quick},
                          {"repetitions", info.settings.repetitions},
                          {"batch_s", info.settings.batch_s}}},
                        {"rows", list}};
    // Texts come from reports of back ends too: what is not UTF-8 is replaced, not thrown.
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hal::bench
