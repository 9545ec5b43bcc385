// What a run prints: one line a case, the findings of bad ones, a summary with every verdict.
#pragma once

#include <iosfwd>

#include "engine.hpp"

namespace hal::conformance {

class Report {
  public:
    Report(std::ostream& out, bool verbose) : out_(out), verbose_(verbose) {}

    void begin(const Target& target, const Facts& facts, uint64_t seed, size_t count);
    void add(const Instance& instance, const Outcome& outcome, std::chrono::milliseconds took);
    void end();

    [[nodiscard]] const Totals& totals() const { return totals_; }

  private:
    std::ostream& out_;
    bool verbose_;
    Totals totals_;
    std::vector<std::string> bad_ids_;
    std::string reproduce_;
};

// The list of cases with clauses, authority and needs.
void print_list(std::ostream& out, const std::vector<Instance>& instances);

}  // namespace hal::conformance
