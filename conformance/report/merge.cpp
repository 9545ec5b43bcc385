#include "merge.hpp"

#include <algorithm>
#include <set>

#include "engine/events_json.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

void refuse_difference(const std::string& what, const json& first, const json& other, const std::string& first_name,
                       const std::string& other_name) {
    if (first != other) {
        throw LogError("cannot merge " + first_name + " and " + other_name + ": they differ in the " + what);
    }
}

void check_same(const Log& a, const Log& b, const std::string& first, const std::string& other) {
    const auto same = [&](const char* what, const json& x, const json& y) {
        refuse_difference(what, x, y, first, other);
    };
    same("catalogue", a.begin.suite.catalogue, b.begin.suite.catalogue);
    same("library of the plug-in (SHA-256)", a.begin.target.library_sha256, b.begin.target.library_sha256);
    same("manifest (SHA-256)", a.begin.target.manifest_sha256, b.begin.target.manifest_sha256);
    same("options of the plug-in", a.begin.target.options, b.begin.target.options);
    same("seed", a.begin.run.seed, b.begin.run.seed);
    same("profile", a.begin.run.profile, b.begin.run.profile);
    same("repetitions", a.begin.run.repeat, b.begin.run.repeat);
    same("facts that the plug-in reported", a.facts ? json(a.facts->facts) : json(),
         b.facts ? json(b.facts->facts) : json());
    same("identity that the plug-in reported", a.facts ? json(a.facts->identity) : json(),
         b.facts ? json(b.facts->identity) : json());
}

// As the command line counts them, from 1.
std::string number(uint32_t shard) {
    return std::to_string(shard + 1);
}

void check_shards(const std::vector<Log>& shards, const std::vector<std::string>& names) {
    const uint32_t wanted = shards.front().begin.run.shards;
    std::set<uint32_t> seen;
    for (size_t i = 0; i < shards.size(); ++i) {
        const auto& run = shards[i].begin.run;
        if (run.shards != wanted || wanted < 2) {
            throw LogError("cannot merge " + names[i] + ": it is shard " + number(run.shard) + " of " +
                           std::to_string(run.shards) + ", the first is one of " + std::to_string(wanted));
        }
        if (!seen.insert(run.shard).second) {
            throw LogError("cannot merge " + names[i] + ": shard " + number(run.shard) + " is there twice");
        }
        if (!shards[i].end) {
            throw LogError("cannot merge " + names[i] + ": its log has no end");
        }
    }
    for (uint32_t shard = 0; shard < wanted; ++shard) {
        if (!seen.contains(shard)) {
            throw LogError("cannot merge: shard " + number(shard) + " of " + std::to_string(wanted) + " is missing");
        }
    }
}

bool left_out_more(const std::vector<std::string>& planned, const std::vector<Instance>& catalogue) {
    const std::set<std::string_view> ids(planned.begin(), planned.end());
    return std::any_of(catalogue.begin(), catalogue.end(),
                       [&](const Instance& one) { return !one.id.starts_with("perf.") && !ids.contains(one.id); });
}

}  // namespace

Log merged(const std::vector<Log>& shards, const std::vector<std::string>& names) {
    if (shards.empty()) {
        throw LogError("nothing to merge");
    }
    for (size_t i = 1; i < shards.size(); ++i) {
        check_same(shards.front(), shards[i], names.front(), names[i]);
    }
    check_shards(shards, names);
    Log log = shards.front();
    std::set<std::string> ids(log.begin.planned.begin(), log.begin.planned.end());
    for (size_t i = 1; i < shards.size(); ++i) {
        const Log& shard = shards[i];
        for (const std::string& id : shard.begin.planned) {
            if (!ids.insert(id).second) {
                throw LogError("cannot merge " + names[i] + ": " + id + " is in another shard, too");
            }
            log.begin.planned.push_back(id);
        }
        log.tests.insert(log.tests.end(), shard.tests.begin(), shard.tests.end());
        log.begin.time = std::min(log.begin.time, shard.begin.time);
        log.end->time = std::max(log.end->time, shard.end->time);
        log.end->interrupted = log.end->interrupted || shard.end->interrupted;
        log.end->device_lost = log.end->device_lost || shard.end->device_lost;
        log.end->failure = log.end->failure.empty() ? shard.end->failure : log.end->failure;
    }
    log.begin.run.shard = 0;
    log.begin.run.shards = 1;
    log.begin.run.partial = left_out_more(log.begin.planned, all_instances());
    return log;
}

}  // namespace hal::conformance
