// What gives a check the right to fail a plug-in.
#pragma once

#include <cstdint>

namespace hal::conformance {

// The standard's words, a necessary consequence of them, our ABI contract, or nothing but quality; strongest first.
enum class authority : uint8_t { S, D, A, Q };

[[nodiscard]] constexpr authority weaker(authority a, authority b) {
    return a < b ? b : a;
}

}  // namespace hal::conformance
