// The smallest kernel launch: operator Fill on 16 floats, found in the registry like any framework's kernel.
#pragma once

#include <cstdint>

#include "backend.hpp"

namespace hal::bench {

class FillLaunch {
  public:
    // Throws Unavailable if the back end has no Fill for f32.
    explicit FillLaunch(const Backend& backend);
    FillLaunch(const FillLaunch&) = delete;
    FillLaunch& operator=(const FillLaunch&) = delete;

    // Enqueues one launch.
    void launch(hal_stream stream);

  private:
    static constexpr int64_t elements = 16;

    DeviceMemory memory_;
    const int64_t shape_[1] = {elements};
    hal_tensor tensor_{};
    const hal_tensor* const outputs_[1] = {&tensor_};
    hal_attr value_{};
    hal_kernel_call call_{};
    hal_kernel_fn run_;
};

}  // namespace hal::bench
