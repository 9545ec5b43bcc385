#include "events_json.hpp"

namespace hal::conformance {

using nlohmann::json;

void to_json(json& to, const Facts& from) {
    std::vector<std::string_view> present;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (from.present[i]) {
            present.push_back(entries[i].name);
        }
    }
    to = json{{"present", present},
              {"device_count", from.device_count},
              {"device_flags", from.device_flags},
              {"backend_flags", from.backend_flags},
              {"ops", from.ops},
              {"behaviour", from.behaviour},
              {"claimed", from.claimed},
              {"routes", from.routes},
              {"memory_mib", from.memory_mib},
              {"most_ranks", from.most_ranks}};
}

void from_json(const json& from, Facts& to) {
    to = Facts{};
    for (const auto& entry : from.at("present").get<std::vector<std::string>>()) {
        const EntryInfo* info = find_entry(entry);
        if (info == nullptr) {
            throw std::invalid_argument("the tables have no entry " + entry);
        }
        to.present.set(static_cast<size_t>(info - entries.data()));
    }
    from.at("device_count").get_to(to.device_count);
    from.at("device_flags").get_to(to.device_flags);
    from.at("backend_flags").get_to(to.backend_flags);
    to.ops = from.at("ops").get<decltype(to.ops)>();
    to.behaviour = from.at("behaviour").get<decltype(to.behaviour)>();
    to.claimed = from.at("claimed").get<decltype(to.claimed)>();
    to.routes = from.at("routes").get<decltype(to.routes)>();
    from.at("memory_mib").get_to(to.memory_mib);
    to.most_ranks = from.value("most_ranks", 0U);
}

}  // namespace hal::conformance
