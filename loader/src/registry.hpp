// The kernels of one back end: deterministic look-up without a lock, late registration beside running readers.
//
// Matching. Operator and dtype choose a chain; the chain of the exact dtype comes before the chain of dtype ANY. In a
// chain the order is: exact layout before ANY, more exact types in the signature, a named arch, a range of op versions
// (the later one first), priority. What the key leaves open (dtype ANY, layout ANY, arch NULL, signature NULL) finds
// only kernels that leave it open too: a kernel for NC1HWC0 never gets a tensor whose layout nobody stated. op_version
// 0 alone means "whichever". Equal in key and rank is an error: no order of registration or of linking decides which
// kernel runs.
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

    // All or none. Empty, or why not: a kernel without name or function, of another back end, a size that is none, a
    // duplicate of key and rank (with both source lines). The kernels are borrowed. Readers may see the first kernels
    // of a batch before its last. Throws only std::bad_alloc, and then has added none.
    [[nodiscard]] std::string add(std::string_view backend, std::span<const hal_kernel* const> kernels);

    // See hal_kernel_find; nullptr on a miss. Any thread, no lock. The key is complete: the caller has filled up what
    // an older framework's key does not have. A kernel of full size comes back as the plug-in's own pointer; a shorter
    // one of an older plug-in as a copy of the registry's, so that no reader runs past its end.
    [[nodiscard]] const hal_kernel* find(const hal_kernel_key& key, const hal_kernel* after) const noexcept;

    // Why find missed: unknown operator with the nearest names, or the kernels of the operator with what did not match.
    [[nodiscard]] std::string explain_miss(const hal_kernel_key& key) const;

    // By operator, dtype (exact before ANY) and rank.
    [[nodiscard]] std::vector<const hal_kernel*> list() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// The text of explain_miss, from the list.
[[nodiscard]] std::string explain_kernel_miss(const hal_kernel_key& key, std::span<const hal_kernel* const> kernels);

}  // namespace hal::loader
