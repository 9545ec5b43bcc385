// What the collectives engine (backends/xccl) needs of this back end: device memory goes through memory of the host.
#pragma once

#include <memory>
#include <mutex>

#include "port.hpp"
#include "staging_memory.hpp"

namespace hal::opencl {

class Instance;

class XcclPort final : public xccl::Port {
  public:
    explicit XcclPort(Instance& instance) noexcept : instance_(instance) {}

    [[nodiscard]] xccl::Arena arena(hal_dev device) override;
    void require_memory(hal_dev device, hal_dptr address, uint64_t bytes, const char* what) override;
    void require_stream(hal_dev device, hal_stream stream) override;
    void enqueue(hal_dev device, hal_stream stream, const xccl::Work& work) override;
    [[nodiscard]] xccl::StagingMemory* staging(hal_dev device) override;
    [[nodiscard]] bool copies_by_itself(hal_dev device) override;
    [[nodiscard]] std::unique_ptr<xccl::Copy> copy_in(hal_dev device, std::byte* to, hal_dptr from,
                                                      uint64_t bytes) override;
    [[nodiscard]] std::unique_ptr<xccl::Copy> copy_out(hal_dev device, hal_dptr to, const std::byte* from,
                                                       uint64_t bytes) override;
    void refuse_on_stream(const char* entry) const override;

  private:
    Instance& instance_;
    std::once_flag once_;
    std::unique_ptr<xccl::StagingMemory> staging_;  // of all devices, from the first communicator on
};

}  // namespace hal::opencl
