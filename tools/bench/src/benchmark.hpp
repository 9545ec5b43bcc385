// One row of the benchmark: what is measured, against what, and to which goal.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "goal.hpp"

namespace hal::bench {

class Context;

// One repetition: measures for some milliseconds and returns the figure in the unit of the row.
using Sampler = std::function<double()>;

// What a benchmark does once it is set up. The samplers own what they use. An empty peer means that there is none here.
struct Contest {
    Sampler ours;
    Sampler peer;
    std::string note;  // what the reader must know: huge pages, why the peer is absent
};

struct Benchmark {
    std::string name;  // "dispatch/inline", unique
    std::string ours;  // what is measured
    std::string peer;  // the peer or ceiling; empty if the goal stands alone
    std::string unit;
    Better better = Better::lower;
    Goal goal;
    std::function<Contest(Context&)> prepare;
    bool timed = true;  // false: counts that a busy machine does not change
};

// A set of rows that --group selects.
struct Group {
    std::string_view name;
    std::string_view effect;
    std::vector<Benchmark> (*benchmarks)(const struct Settings& settings);
};

// The registered groups, ordered by name.
[[nodiscard]] std::vector<Group> groups();

// A group's file defines one of these at namespace scope.
struct Registration {
    explicit Registration(const Group& group);
};

// Thrown by prepare when the row cannot be measured here, which is no error (an optional entry that the backend lacks).
class Unavailable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace hal::bench
