#include "plan.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "digest.hpp"
#include "harness/filter.hpp"

namespace hal::conformance {
namespace {

constexpr std::array<std::string_view, 3> class_names{"fast", "medium", "long"};
constexpr std::array<std::string_view, 4> authority_names{"S", "D", "A", "Q"};

bool any(const std::vector<std::string>& patterns, const Instance& instance) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        return matches(pattern, instance.id) || matches(pattern, instance.origin->id);
    });
}

bool listed(const std::vector<std::string>& values, std::string_view one) {
    return values.empty() || std::find(values.begin(), values.end(), one) != values.end();
}

bool cites(const Case& one, const std::vector<std::string>& clauses) {
    return clauses.empty() || std::any_of(one.clauses.begin(), one.clauses.end(), [&](std::string_view clause) {
               return std::any_of(clauses.begin(), clauses.end(),
                                  [&](const std::string& prefix) { return clause.starts_with(prefix); });
           });
}

bool asks_for(const Instance& instance, const std::vector<std::string>& needs) {
    return needs.empty() || std::any_of(instance.needs.begin(), instance.needs.end(),
                                        [&](const Need& need) { return listed(needs, text_of(need)); });
}

bool wanted(const Instance& instance, const Choice& choice) {
    const Case& one = *instance.origin;
    return (choice.filters.empty() || any(choice.filters, instance)) && !any(choice.excludes, instance) &&
           listed(choice.exact, instance.id) && cites(one, choice.clauses) && asks_for(instance, choice.needs) &&
           (choice.perf == (category_of(one.id) == "perf")) && listed(choice.categories, category_of(one.id)) &&
           listed(choice.authorities, authority_names[static_cast<size_t>(one.authority)]) &&
           (!choice.max_class || one.cls <= *choice.max_class) && !(choice.quick && one.cls == cls::long_);
}

std::vector<std::string> all_ids() {
    std::vector<std::string> ids;
    for (const Instance& instance : all_instances()) {
        ids.push_back(instance.id);
    }
    return ids;
}

// A word that selects nothing at all is a mistake, even beside others that select something.
void refuse_idle(const std::vector<std::string>& patterns, const std::vector<Instance>& all) {
    for (const std::string& pattern : patterns) {
        if (std::none_of(all.begin(), all.end(), [&](const Instance& one) { return any({pattern}, one); })) {
            std::string text = "no case matches '" + pattern + "'; the nearest are";
            for (const std::string& id : nearest(pattern, all_ids(), 3)) {
                text += "\n    " + id;
            }
            throw NoMatch(text);
        }
    }
}

// Of a case of ranks the number that it names first: one rank alone shows little.
bool other_ranks(const Instance& instance) {
    const auto& axes = instance.origin->axes;
    const auto axis = std::find_if(axes.begin(), axes.end(), [](const over& one) { return one.name == "ranks"; });
    return axis != axes.end() && instance.params.at("ranks") != axis->values.front().text;
}

// One point of the parameters for each case: the first, so that it is the same one each time.
void keep_first_points(std::vector<Instance>& chosen) {
    std::set<std::string_view> seen;
    std::erase_if(chosen, [&](const Instance& instance) { return !seen.insert(instance.origin->id).second; });
}

void keep_shard(std::vector<Instance>& chosen, uint32_t shard, uint32_t shards) {
    size_t place = 0;
    std::erase_if(chosen, [&](const Instance&) { return place++ % shards != shard; });
}

}  // namespace

bool Choice::partial() const {
    return !filters.empty() || !excludes.empty() || !exact.empty() || !clauses.empty() || !categories.empty() ||
           !needs.empty() || !authorities.empty() || max_class || quick || few_ranks || shards > 1;
}

std::vector<Instance> choose(const Choice& choice) {
    std::vector<Instance> chosen = all_instances();
    refuse_idle(choice.filters, chosen);
    refuse_idle(choice.excludes, chosen);
    refuse_idle(choice.exact, chosen);
    std::erase_if(chosen, [&](const Instance& instance) { return !wanted(instance, choice); });
    if (choice.quick || choice.few_ranks) {
        std::erase_if(chosen, &other_ranks);
    }
    if (choice.quick) {
        keep_first_points(chosen);
    }
    keep_shard(chosen, choice.shard, choice.shards);
    if (chosen.empty()) {
        throw NoMatch(
            "no case is left by the filters, clauses, categories, authorities and classes together; "
            "`hal-conformance list` with the same words shows what each leaves");
    }
    return chosen;
}

const Instance* find_instance(const std::vector<Instance>& sorted, std::string_view id) {
    const auto found = std::lower_bound(sorted.begin(), sorted.end(), id,
                                        [](const Instance& one, std::string_view key) { return one.id < key; });
    return found != sorted.end() && found->id == id ? &*found : nullptr;
}

void shuffle(std::vector<Instance>& instances, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::shuffle(instances.begin(), instances.end(), random);
    std::stable_partition(instances.begin(), instances.end(),
                          [](const Instance& instance) { return !instance.origin->exclusive; });
}

std::string catalogue_hash() {
    std::string text;
    for (const Instance& instance : all_instances()) {
        const Case& one = *instance.origin;
        text.append(instance.id).append("\n");
        for (const std::string_view clause : one.clauses) {
            text.append(clause).append(" ");
        }
        text.append(authority_names[static_cast<size_t>(one.authority)]).append(name(one.cls));
        for (const Need& need : instance.needs) {
            text +=
                " " + std::to_string(static_cast<int>(need.kind)) + ":" +
                (need.kind == Need::Kind::entry ? std::string(entries[need.value].name) : std::to_string(need.value)) +
                std::string(need.text);
        }
        text += one.exclusive ? " alone\n" : "\n";
    }
    return sha256_of(text);
}

std::string_view category_of(std::string_view id) {
    if (id.starts_with("perf.")) {
        return "perf";
    }
    for (int dots = 0; dots < 3; ++dots) {
        id.remove_prefix(std::min(id.find('.') + 1, id.size()));
    }
    return id.substr(0, id.find('.'));
}

std::optional<enum cls> class_of(std::string_view text) {
    const auto found = std::find(class_names.begin(), class_names.end(), text);
    return found == class_names.end() ? std::nullopt
                                      : std::optional(static_cast<enum cls>(found - class_names.begin()));
}

std::string_view name(enum cls value) {
    return class_names[static_cast<size_t>(value)];
}

}  // namespace hal::conformance
