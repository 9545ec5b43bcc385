// From what was seen to a verdict. Pure functions: `verify` computes everything again with them.
#pragma once

#include <optional>
#include <span>

#include "attempt.hpp"
#include "harness/backend.hpp"
#include "verdict.hpp"

namespace hal::conformance {

struct Judgement {
    Verdict verdict = Verdict::pass;
    bool breaks_standard = false;  // bad by a check of authority S or D, so that it counts against the standard
    std::string reason;            // one sentence; empty for a plain PASS
};

// Before the first call of a case: a verdict if it does not apply, else nothing.
[[nodiscard]] std::optional<Judgement> not_applicable(const Instance& instance, const Facts& facts);

// Of a case that ran. `attempts` are, in order, the runs of which all but the last were inconclusive; with --repeat
// there are several groups, judged one by one and put together by `repeated`.
[[nodiscard]] Judgement judge(enum authority authority, std::span<const Attempt> attempts);

// Several judgements of one case: the worst, or FLAKY if some passed and some did not.
[[nodiscard]] Judgement repeated(std::span<const Judgement> each);

}  // namespace hal::conformance
