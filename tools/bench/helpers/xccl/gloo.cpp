// A rank on Gloo: TCP, on one host over the loopback interface; ranks find each other by files in the directory of the
// team.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "benchmark.hpp"
#include "host_transport.hpp"
#include "own_host.hpp"
#include "rank.hpp"

namespace hal::bench::xccl {
namespace {

class GlooTransport : public HostTransport {
  public:
    explicit GlooTransport(const RankArguments& arguments)
        : context_(std::make_shared<gloo::rendezvous::Context>(arguments.rank, arguments.ranks)) {
        gloo::transport::tcp::attr address;
        address.hostname = enter_host(arguments);
        gloo::rendezvous::FileStore store(arguments.directory.string());
        auto device = gloo::transport::tcp::CreateDevice(address);
        context_->connectFullMesh(store, device);
    }

    void barrier() override {
        gloo::BarrierOptions options(context_);
        gloo::barrier(options);
    }

    // Gloo's calls wait by themselves. Their options are made once, as a caller who cares for speed does.
    void run(const Collective& collective, uint64_t iterations, bool /*wait_each*/) override {
        switch (collective.operation) {
            case Operation::all_reduce:
                return all_reduce(collective, iterations);
            case Operation::broadcast:
                return broadcast(collective, iterations);
            case Operation::all_gather: {
                gloo::AllgatherOptions options(context_);
                return exchange(options, collective, iterations, [&] { gloo::allgather(options); });
            }
            case Operation::alltoall: {
                gloo::AlltoallOptions options(context_);
                return exchange(options, collective, iterations, [&] { gloo::alltoall(options); });
            }
            case Operation::reduce_scatter:
                throw Unavailable("Gloo has no reduce_scatter between two buffers");
        }
    }

  private:
    void all_reduce(const Collective& collective, uint64_t iterations) {
        gloo::AllreduceOptions options(context_);
        options.setInput(send(), collective.send_count());
        options.setOutput(receive(), collective.receive_count());
        options.setReduceFunction([](void* out, const void* a, const void* b, size_t count) {
            gloo::sum<float>(static_cast<float*>(out), static_cast<const float*>(a), static_cast<const float*>(b),
                             count);
        });
        for (uint64_t i = 0; i < iterations; ++i) {
            gloo::allreduce(options);
        }
    }

    void broadcast(const Collective& collective, uint64_t iterations) {
        gloo::BroadcastOptions options(context_);
        options.setRoot(0);
        options.setOutput(receive(), collective.receive_count());
        for (uint64_t i = 0; i < iterations; ++i) {
            gloo::broadcast(options);
        }
    }

    template <class Options, class Call>
    void exchange(Options& options, const Collective& collective, uint64_t iterations, Call call) {
        options.setInput(send(), collective.send_count());
        options.setOutput(receive(), collective.receive_count());
        for (uint64_t i = 0; i < iterations; ++i) {
            call();
        }
    }

    std::shared_ptr<gloo::rendezvous::Context> context_;
};

}  // namespace
}  // namespace hal::bench::xccl

int main(int argc, char** argv) {
    return hal::bench::xccl::run_rank<hal::bench::xccl::GlooTransport>("hal-bench-xccl-gloo", argc, argv);
}
