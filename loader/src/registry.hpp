// The kernels of one back end: deterministic look-up without a lock, late registration beside running readers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/loader.h"

namespace hal::loader {

class Registry {
  public:
    Registry();
    ~Registry();
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    // All or none. Empty, or why not: a kernel without name or function, of another back end, a size that is none, a duplicate
    // of key and rank (with both source lines). The kernels are borrowed.
    [[nodiscard]] std::string add(std::string_view backend, std::span<const hal_kernel* const> kernels);

    // See hal_kernel_find; nullptr on a miss. Any thread, no lock.
    [[nodiscard]] const hal_kernel* find(const hal_kernel_key& key, const hal_kernel* after) const noexcept;

    // Why find missed: unknown operator with the nearest names, or the kernels of the operator with what did not match.
    [[nodiscard]] std::string explain_miss(const hal_kernel_key& key) const;

    // By operator and rank.
    [[nodiscard]] std::vector<const hal_kernel*> list() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hal::loader
