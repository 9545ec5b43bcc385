// Which cases run, and in which order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/case.hpp"

namespace hal::conformance {

struct Choice {
    std::vector<std::string> filters;      // globs over the id with or without parameters
    std::vector<std::string> excludes;     // the same
    std::vector<std::string> exact;        // whole ids
    std::vector<std::string> clauses;      // "45079/T2" takes all that begin so
    std::vector<std::string> categories;   // "order"
    std::vector<std::string> needs;        // cases that need this of the plug-in, as `list` says it: "a gate"
    std::vector<std::string> authorities;  // "S"
    std::optional<enum cls> max_class;
    bool quick = false;      // one point of its parameters for each case, no class long
    bool few_ranks = false;  // each case of ranks with the number that it names first
    bool perf = false;       // the measurements, and nothing else; without it everything else
    uint32_t shard = 0;      // this one ...
    uint32_t shards = 1;     // ... of so many

    // Something is left out on purpose.
    [[nodiscard]] bool partial() const;
};

// By id. What is damaged or matches nothing throws NoMatch, with the nearest ids.
class NoMatch : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};
[[nodiscard]] std::vector<Instance> choose(const Choice& choice);

// In a list that is sorted by id, as all_instances() is; nullptr if there is none.
[[nodiscard]] const Instance* find_instance(const std::vector<Instance>& sorted, std::string_view id);

// By seed; those that must run alone come last.
void shuffle(std::vector<Instance>& instances, uint64_t seed);

// Over ids, clauses, authorities, classes and needs of all cases.
[[nodiscard]] std::string catalogue_hash();

[[nodiscard]] std::string_view category_of(std::string_view id);
[[nodiscard]] std::optional<enum cls> class_of(std::string_view name);
[[nodiscard]] std::string_view name(enum cls value);

}  // namespace hal::conformance
