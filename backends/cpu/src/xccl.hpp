// What the collectives engine (backends/xccl) needs of this back end.
#pragma once

#include "port.hpp"

namespace hal::cpu {

class Instance;

class XcclPort final : public xccl::Port {
  public:
    explicit XcclPort(Instance& instance) noexcept : instance_(instance) {}

    [[nodiscard]] xccl::Arena arena(hal_dev device) override;
    void require_memory(hal_dev device, hal_dptr address, uint64_t bytes, const char* what) override;
    void require_stream(hal_dev device, hal_stream stream) override;
    void enqueue(hal_dev device, hal_stream stream, const xccl::Work& work) override;
    void refuse_on_stream(const char* entry) const override;

  private:
    Instance& instance_;
};

}  // namespace hal::cpu
