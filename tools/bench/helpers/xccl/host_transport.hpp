// The buffers of a library that works on the memory of its process.
#pragma once

#include <algorithm>
#include <memory>

#include "buffer.hpp"
#include "transport.hpp"

namespace hal::bench::xccl {

class HostTransport : public Transport {
  public:
    void reserve(const Collective& collective) override {
        send_.reset();
        receive_.reset();
        send_ = std::make_unique<Buffer>(collective.send_count() * sizeof(float), Pages::huge);
        receive_ = std::make_unique<Buffer>(collective.receive_count() * sizeof(float), Pages::huge);
    }
    void write_send(uint64_t first, std::span<const float> data) override {
        std::copy(data.begin(), data.end(), send() + first);
    }
    void write_receive(uint64_t first, std::span<const float> data) override {
        std::copy(data.begin(), data.end(), receive() + first);
    }
    void read_receive(uint64_t first, std::span<float> data) override {
        std::copy_n(receive() + first, data.size(), data.begin());
    }

  protected:
    [[nodiscard]] float* send() const { return reinterpret_cast<float*>(send_->data()); }
    [[nodiscard]] float* receive() const { return reinterpret_cast<float*>(receive_->data()); }

  private:
    std::unique_ptr<Buffer> send_;
    std::unique_ptr<Buffer> receive_;
};

}  // namespace hal::bench::xccl
