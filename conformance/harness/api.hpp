// The plug-in's own table slots, callable by name. No slot is completed or emulated here: an absent entry is absent.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "hal/reflect.hpp"
#include "trail.hpp"

namespace hal::conformance {

// A fault of the suite, never of the plug-in.
class HarnessError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Names every entry of the contract: E::memory_copy_h2d. The value is the index into hal::entries.
enum class E : uint16_t {
#define HAL_FN(table, entry, need, clause, since, effect, params) entry,
#include "hal/tables/all.def"
};

[[nodiscard]] constexpr const EntryInfo& info(E entry) {
    return entries[static_cast<size_t>(entry)];
}

template <class Function>
struct Slot;

template <class... Args>
struct Slot<hal_status (*)(hal_instance*, Args...)> {
    hal_status (*function)(hal_instance*, Args...) = nullptr;
    hal_instance* self = nullptr;
    E entry{};

    hal_status operator()(Args... args) const {
        if (function == nullptr) {
            throw HarnessError("the case calls " + std::string(info(entry).name) +
                               ", which the plug-in does not offer: name it in needs{}");
        }
        return call(args...);
    }
    [[nodiscard]] explicit operator bool() const { return function != nullptr; }

  private:
    // noexcept: an exception may not cross the ABI, and ends the worker here.
    hal_status call(Args... args) const noexcept {
        const Calling calling(static_cast<uint32_t>(entry));
        return function(self, args...);
    }
};

struct Api {
#define HAL_FN(table, entry, need, clause, since, effect, params) \
    Slot<decltype(hal_##table##_table::entry)> entry{nullptr, nullptr, E::entry};
#include "hal/tables/all.def"
};

// "HAL_OK", or "status 77" for a number that is none.
[[nodiscard]] std::string to_string(hal_status status);

}  // namespace hal::conformance
