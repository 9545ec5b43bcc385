// A launch on this back end: the checks of every back end (shared/kernels/) against the memory of these devices.
#pragma once

#include "instance.hpp"
#include "kernels/numbers.hpp"
#include "kernels/operators.hpp"
#include "memory.hpp"

namespace hal::cpu {

using shared::any_inputs;
using shared::BF16;
using shared::Bool;
using shared::Compute;
using shared::convert;
using shared::dispatch;
using shared::dtype_of;
using shared::dtype_text;
using shared::F16;
using shared::Half;
using shared::load;
using shared::Purpose;
using shared::Shape;
using shared::store;
using shared::View;

class Call final : public shared::Call {
  public:
    using Owner = Instance;
    Call(Instance& instance, const hal_kernel_call& call, Purpose purpose, uint32_t inputs, uint32_t outputs)
        : shared::Call(call, purpose, inputs, outputs), instance_(instance) {}

  private:
    void require_memory(hal_dptr first, uint64_t bytes, const shared::TensorName& tensor) const override {
        if (!memory_of(instance_, raw().device).heap.contains(first, bytes)) {  // the text only where it may be needed
            check_range(instance_, raw().device, first, bytes, named(tensor.text()).c_str());
        }
    }

    Instance& instance_;
};

template <uint64_t (*Rule)(const shared::Call&), uint32_t Inputs>
inline constexpr auto query = &shared::query_slot<Call, Rule, Inputs>;
template <shared::Inferred (*Rule)(const shared::Call&), uint32_t Inputs>
inline constexpr auto infer = &shared::infer_slot<Call, Rule, Inputs>;

}  // namespace hal::cpu
