// A launch on this back end: the checks of every back end (shared/kernels/) against the memory of these devices.
#pragma once

#include <boost/container/static_vector.hpp>
#include <optional>

#include "device.hpp"
#include "instance.hpp"
#include "kernels/numbers.hpp"
#include "kernels/operators.hpp"

namespace hal::opencl {

using shared::Purpose;
using shared::View;

class Call final : public shared::Call {
  public:
    using Owner = Instance;
    // Also throws UNSUPPORTED if the registration's type needs what the device lacks.
    Call(Instance& instance, const hal_kernel_call& call, Purpose purpose, uint32_t inputs, uint32_t outputs)
        : shared::Call(call, purpose, inputs, outputs), device_(instance.device(call.device)) {
        require_type(dtype());
    }

    [[nodiscard]] Device& device() const noexcept { return device_; }
    [[nodiscard]] hal_dtype dtype() const noexcept { return raw().kernel->dtype; }
    void require_type(hal_dtype dtype) const {
        if (dtype == HAL_F64 && !device_.info().has_f64) {
            refuse("", "device " + std::to_string(device_.ordinal()) + " has no f64", HAL_ERROR_UNSUPPORTED);
        }
    }

    // The place of element 0 of a tensor, or of the workspace, that was read and has elements.
    [[nodiscard]] Place place_of(const std::byte* data) const {
        const auto address = reinterpret_cast<uint64_t>(data);
        for (const Found& found : found_) {
            if (address - found.first < found.bytes) {
                return found.place.at(address - found.first);
            }
        }
        return check_range(device_, address, 1, "tensor");
    }

  private:
    struct Found {
        hal_dptr first;
        uint64_t bytes;
        Place place;
    };

    void require_memory(hal_dptr first, uint64_t bytes, const shared::TensorName& tensor) const override {
        std::optional<Place> place = device_.memory.place(first, bytes);
        if (!place) {  // the text only where it is needed
            place = check_range(device_, first, bytes, named(tensor.text()).c_str());
        }
        if (found_.size() < found_.capacity()) {
            found_.push_back({first, bytes, *place});
        }
    }

    Device& device_;
    // Memory that was looked up when its tensor was read; more tensors than this are looked up again.
    mutable boost::container::static_vector<Found, 4> found_;
};

// Every kernel has a query: a device may lack its type.
inline uint64_t no_workspace(const Call&) {
    return 0;
}
template <auto Rule, uint32_t Inputs>
inline constexpr auto query = &shared::query_slot<Call, Rule, Inputs>;
template <shared::Inferred (*Rule)(const shared::Call&), uint32_t Inputs>
inline constexpr auto infer = &shared::infer_slot<Call, Rule, Inputs>;

}  // namespace hal::opencl
