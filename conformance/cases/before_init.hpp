// What holds of every entry before initialize and after the last finalize, of an instance that is its own.
#pragma once

#include "harness/test.hpp"

namespace hal::conformance {

using RawCall = std::function<hal_status(const Api&)>;

enum class Rule {
    refuses,     // works with a device
    no_object,   // takes an object, of which none can be alive: either may be said
    may_answer,  // only tells something; then always
};

void check_before_init(Test& t, const RawCall& call, Rule rule);
void check_after_finalize(Test& t, const RawCall& call, Rule rule);

}  // namespace hal::conformance
