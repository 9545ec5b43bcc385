// The module that connects hosts: Gloo's collectives over TCP.
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/common/error.h>
#include <gloo/reduce.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "hal/sdk.hpp"
#include "network.hpp"
#include "signals_blocked.hpp"

namespace hal::xccl {
namespace {

namespace transport = gloo::transport;

std::chrono::milliseconds milliseconds(uint64_t ns) {
    constexpr uint64_t longest_ms = uint64_t{1000} * 60 * 60 * 24 * 365;  // what Gloo adds to a time must not overflow
    return std::chrono::milliseconds(std::min(ns / 1'000'000 + 1, longest_ms));
}

// Gloo writes to sockets without MSG_NOSIGNAL: the application shall not get a SIGPIPE for it.
class PipeSignalBlocked {
  public:
    PipeSignalBlocked() noexcept {
        sigset_t pipe;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe, &before_);
    }
    ~PipeSignalBlocked() {
        if (sigismember(&before_, SIGPIPE) == 1) {
            return;
        }
        sigset_t pipe;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        const timespec none{};
        sigtimedwait(&pipe, nullptr, &none);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    PipeSignalBlocked(const PipeSignalBlocked&) = delete;
    PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

  private:
    sigset_t before_{};
};

// Runs f; Gloo's errors become ours.
template <class F>
auto translated(F&& f) {
    const PipeSignalBlocked blocked;
    try {
        return f();
    } catch (const gloo::IoException& error) {
        const bool late = std::strstr(error.what(), "imed out") != nullptr;
        throw sdk::Error(late ? HAL_ERROR_TIMEOUT : HAL_ERROR_REMOTE, error.what());
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        throw sdk::Error(HAL_ERROR_REMOTE, error.what());
    }
}

// Pairs with the members that are linked; the others are never spoken to.
class Context : public gloo::Context {
  public:
    Context(std::shared_ptr<transport::Device> device, int own, const std::vector<bool>& linked,
            std::chrono::milliseconds timeout)
        : gloo::Context(own, static_cast<int>(linked.size())) {
        setTimeout(timeout);
        device_ = std::move(device);
        transportContext_ = device_->createContext(own, size);
        transportContext_->setTimeout(timeout);
        for (int member = 0; member < size; ++member) {
            if (member != own && linked[static_cast<size_t>(member)]) {
                transportContext_->createPair(member)->setLocalRank(0);
            }
        }
    }
};

class GlooTransfer final : public Transfer {
  public:
    GlooTransfer(gloo::Context& context, std::byte* data, uint64_t bytes, bool sends)
        : buffer_(context.createUnboundBuffer(data, bytes)), sends_(sends) {}

    [[nodiscard]] transport::UnboundBuffer& buffer() noexcept { return *buffer_; }

    void wait(uint64_t timeout_ns) override {
        translated([&] {
            if (sends_) {
                buffer_->waitSend(milliseconds(timeout_ns));
            } else {
                buffer_->waitRecv(milliseconds(timeout_ns));
            }
        });
    }

  private:
    std::unique_ptr<transport::UnboundBuffer> buffer_;
    bool sends_;
};

// Calls f(T*) with a type of that many bytes, which is all that Gloo wants to know of elements.
template <class F>
void as_elements(uint64_t bytes, F&& f) {
    __extension__ using Int128 = __int128;
    switch (bytes) {
        case 1:
            return f(static_cast<uint8_t*>(nullptr));
        case 2:
            return f(static_cast<uint16_t*>(nullptr));
        case 4:
            return f(static_cast<uint32_t*>(nullptr));
        case 8:
            return f(static_cast<uint64_t*>(nullptr));
        default:
            return f(static_cast<Int128*>(nullptr));
    }
}

class GlooMesh final : public Mesh {
  public:
    explicit GlooMesh(std::shared_ptr<Context> context) : context_(std::move(context)) {}

    [[nodiscard]] MeshAddress address(int32_t member) const override {
        MeshAddress address{};
        if (const auto& pair = context_->getPair(member); member != context_->rank && pair != nullptr) {
            const std::vector<char> bytes = pair->address().bytes();
            std::memcpy(address.data(), bytes.data(), std::min(bytes.size(), address.size()));
        }
        return address;
    }

    void connect(std::span<const MeshAddress> addresses) override {
        translated([&] {
            for (int member = 0; member < context_->size; ++member) {
                if (const auto& pair = context_->getPair(member); member != context_->rank && pair != nullptr) {
                    const auto* const first =
                        reinterpret_cast<const char*>(addresses[static_cast<size_t>(member)].data());
                    pair->connect(std::vector<char>(first, first + pair->address().bytes().size()));
                }
            }
        });
    }

    void barrier(const Run& run) override {
        translated([&] {
            gloo::BarrierOptions options(context_);
            prepare(options, run);
            gloo::barrier(options);
        });
    }

    void all_reduce(const Run& run, std::byte* in, std::byte* out, Elements elements, const Add& add) override {
        translated([&] {
            gloo::AllreduceOptions options(context_);
            prepare(options, run);
            as_elements(elements.bytes, [&]<class T>(T*) {
                if (in != out) {
                    options.setInput(reinterpret_cast<T*>(in), elements.count);
                }
                options.setOutput(reinterpret_cast<T*>(out), elements.count);
            });
            options.setReduceFunction(adder(add));
            gloo::allreduce(options);
        });
    }

    void reduce(const Run& run, int32_t root, std::byte* data, Elements elements, const Add& add) override {
        translated([&] {
            gloo::ReduceOptions options(context_);
            prepare(options, run);
            options.setRoot(root);
            as_elements(elements.bytes,
                        [&]<class T>(T*) { options.setOutput(reinterpret_cast<T*>(data), elements.count); });
            options.setReduceFunction(adder(add));
            gloo::reduce(options);
        });
    }

    void broadcast(const Run& run, int32_t root, std::byte* in, std::byte* out, uint64_t bytes) override {
        translated([&] {
            gloo::BroadcastOptions options(context_);
            prepare(options, run);
            options.setRoot(root);
            if (root == context_->rank && in != out) {
                options.setInput(in, bytes);
            }
            options.setOutput(out, bytes);
            gloo::broadcast(options);
        });
    }

    void all_gather(const Run& run, std::byte* in, std::byte* out, std::span<const uint64_t> sizes) override {
        translated([&] {
            gloo::AllgathervOptions options(context_);
            prepare(options, run);
            const auto own = static_cast<size_t>(context_->rank);
            const uint64_t before = total(sizes.first(own));
            if (in != out + before) {
                options.setInput(in, sizes[own]);
            }
            options.setOutput(out, std::vector<size_t>(sizes.begin(), sizes.end()));
            gloo::allgatherv(options);
        });
    }

    void all_to_all(const Run& run, std::byte* in, std::span<const uint64_t> in_sizes, std::byte* out,
                    std::span<const uint64_t> out_sizes) override {
        translated([&] {
            gloo::AlltoallvOptions options(context_);
            prepare(options, run);
            options.setInput(in, std::vector<int64_t>(in_sizes.begin(), in_sizes.end()));
            options.setOutput(out, std::vector<int64_t>(out_sizes.begin(), out_sizes.end()));
            gloo::alltoallv(options);
        });
    }

    [[nodiscard]] std::unique_ptr<Transfer> send(int32_t to, std::byte* data, uint64_t bytes, uint64_t tag) override {
        return translated([&] {
            auto transfer = std::make_unique<GlooTransfer>(*context_, data, bytes, true);
            transfer->buffer().send(to, tag);
            return transfer;
        });
    }
    [[nodiscard]] std::unique_ptr<Transfer> receive(int32_t from, std::byte* data, uint64_t bytes,
                                                    uint64_t tag) override {
        return translated([&] {
            auto transfer = std::make_unique<GlooTransfer>(*context_, data, bytes, false);
            transfer->buffer().recv(from, tag);
            return transfer;
        });
    }

    // A wait that passes its limit ends all others of the context, which is the one way in that Gloo offers.
    void abort() noexcept override {
        try {
            const PipeSignalBlocked blocked;
            context_->createUnboundBuffer(nullptr, 0)->waitRecv(std::chrono::milliseconds(1));
        } catch (const std::exception&) {  // so it is meant
        }
    }

  private:
    template <class Options>
    static void prepare(Options& options, const Run& run) {
        options.setTag(run.tag);
        options.setTimeout(milliseconds(run.timeout_ns));
    }
    static uint64_t total(std::span<const uint64_t> sizes) {
        uint64_t sum = 0;
        for (const uint64_t one : sizes) {
            sum += one;
        }
        return sum;
    }
    static std::function<void(void*, const void*, const void*, size_t)> adder(const Add& add) {
        return [&add](void* to, const void* a, const void* b, size_t count) {
            add(static_cast<std::byte*>(to), static_cast<const std::byte*>(a), static_cast<const std::byte*>(b), count);
        };
    }

    std::shared_ptr<Context> context_;
};

class GlooNetwork final : public Network {
  public:
    explicit GlooNetwork(const char* address) {
        transport::tcp::attr attributes;
        attributes.hostname = address;
        const shared::SignalsBlocked blocked;  // it starts a thread
        device_ = transport::tcp::CreateDevice(attributes);
    }

    [[nodiscard]] std::unique_ptr<Mesh> make_mesh(int32_t rank, const std::vector<bool>& members,
                                                  uint64_t timeout_ns) override {
        try {
            return std::make_unique<GlooMesh>(
                std::make_shared<Context>(device_, rank, members, milliseconds(timeout_ns)));
        } catch (const gloo::IoException& error) {
            throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, error.what());
        }
    }

  private:
    std::shared_ptr<transport::Device> device_;
};

}  // namespace
}  // namespace hal::xccl

extern "C" __attribute__((visibility("default"))) hal::xccl::Network* hal_xccl_network(const char* version,
                                                                                       const char* address,
                                                                                       std::string* out_error) {
    if (std::strcmp(version, HAL_XCCL_VERSION) != 0) {
        *out_error = std::string("the module is of version " HAL_XCCL_VERSION ", the back end of ") + version;
        return nullptr;
    }
    try {
        return new hal::xccl::GlooNetwork(address);
    } catch (const std::exception& error) {
        *out_error = error.what();
        return nullptr;
    }
}
