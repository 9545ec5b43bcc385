// A rank on Open MPI, started by mpirun, which numbers the ranks.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include "host_transport.hpp"
#include "rank.hpp"

namespace hal::bench::xccl {
namespace {

// Errors inside a loop end the process by MPI's own handler; hal-bench then finds its text.
class MpiTransport : public HostTransport {
  public:
    void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

    // MPI's calls wait by themselves.
    void run(const Collective& collective, uint64_t iterations, bool /*wait_each*/) override {
        const auto count = static_cast<int>(collective.call_count());
        for (uint64_t i = 0; i < iterations; ++i) {
            call(collective.operation, count);
        }
    }

  private:
    void call(Operation operation, int count) {
        switch (operation) {
            case Operation::all_reduce:
                MPI_Allreduce(send(), receive(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                return;
            case Operation::broadcast:
                MPI_Bcast(receive(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
                return;
            case Operation::all_gather:
                MPI_Allgather(send(), count, MPI_FLOAT, receive(), count, MPI_FLOAT, MPI_COMM_WORLD);
                return;
            case Operation::reduce_scatter:
                MPI_Reduce_scatter_block(send(), receive(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                return;
            case Operation::alltoall:
                MPI_Alltoall(send(), count, MPI_FLOAT, receive(), count, MPI_FLOAT, MPI_COMM_WORLD);
                return;
        }
    }
};

struct Environment {
    Environment() { MPI_Init(nullptr, nullptr); }
    ~Environment() { MPI_Finalize(); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
};

int serve_as_numbered(RankArguments arguments) {
    const Environment environment;
    MPI_Comm_rank(MPI_COMM_WORLD, &arguments.rank);
    return serve(arguments, [] { return std::make_unique<MpiTransport>(); });
}

}  // namespace
}  // namespace hal::bench::xccl

int main(int argc, char** argv) {
    return hal::bench::xccl::run_rank("hal-bench-xccl-mpi", argc, argv, hal::bench::xccl::serve_as_numbered);
}
