// What a run shows while it goes on: a bar on a terminal, bad cases as they come.
#pragma once

#include <iosfwd>

#include "engine/run.hpp"

namespace hal::conformance {

class ProgressView {
  public:
    ProgressView(std::ostream& out, bool terminal, bool verbose) : out_(out), terminal_(terminal), verbose_(verbose) {}

    void begun(const BeginEvent& begin, const FactsEvent& facts);
    void tested(const TestEvent& event, const Judgement& judgement, size_t done, size_t planned);
    void ended();

  private:
    void print_metrics(const TestEvent& event);
    void clear_bar();
    void draw_bar(size_t done, size_t planned);

    std::ostream& out_;
    bool terminal_;
    bool verbose_;
    bool bar_ = false;
    size_t bad_ = 0;
};

[[nodiscard]] std::string hex(uint64_t value);
// Text of a plug-in must not reach the terminal as control characters.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace hal::conformance
