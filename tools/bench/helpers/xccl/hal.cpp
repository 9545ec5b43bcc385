// A rank on the HAL: the first device of the back end under test in an instance of its own. More arguments: ID
// [MANIFEST...]
#include <fmt/format.h>

#include "backend.hpp"
#include "own_host.hpp"
#include "rank.hpp"

namespace hal::bench::xccl {
namespace {

class Communicator {
  public:
    Communicator(const Backend& backend, const RankArguments& arguments) : backend_(backend) {
        uint64_t size = 0;
        check(hal_xccl_get_unique_id_size(backend.get(), &size), "xccl_get_unique_id_size");
        std::string id(size, '\0');
        const auto file = arguments.directory / "unique-id";
        if (arguments.rank == 0) {
            check(hal_xccl_get_unique_id(backend.get(), id.data(), size), "xccl_get_unique_id");
            write_shared(file, id);
        } else {
            id = read_shared(file);
        }
        check(hal_xccl_comm_init_rank(backend.get(), backend.device(), arguments.ranks, id.data(), id.size(),
                                      arguments.rank, &comm_),
              "xccl_comm_init_rank");
    }
    ~Communicator() { static_cast<void>(hal_xccl_destroy_comm(backend_.get(), comm_)); }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] hal_comm get() const { return comm_; }

  private:
    const Backend& backend_;
    hal_comm comm_ = nullptr;
};

class HalTransport : public Transport {
  public:
    explicit HalTransport(const RankArguments& arguments)
        : address_(enter_host(arguments)),
          backend_({arguments.more.begin() + 1, arguments.more.end()}, arguments.more.at(0),
                   interface_option(arguments)),
          stream_(backend_),
          communicator_(backend_, arguments) {}

    void reserve(const Collective& collective) override {
        send_.reset();
        receive_.reset();
        send_ = std::make_unique<DeviceMemory>(backend_, collective.send_count() * sizeof(float));
        receive_ = std::make_unique<DeviceMemory>(backend_, collective.receive_count() * sizeof(float));
    }
    void write_send(uint64_t first, std::span<const float> data) override { write(*send_, first, data); }
    void write_receive(uint64_t first, std::span<const float> data) override { write(*receive_, first, data); }
    void read_receive(uint64_t first, std::span<float> data) override {
        check(hal_memory_copy_d2h(backend_.get(), backend_.device(), data.data(),
                                  receive_->get() + first * sizeof(float), data.size_bytes()),
              "memory_copy_d2h");
    }

    void barrier() override {
        check(hal_xccl_barrier(backend_.get(), communicator_.get(), stream_.get()), "xccl_barrier");
        stream_.synchronize();
    }

    void run(const Collective& collective, uint64_t iterations, bool wait_each) override {
        hal_status status = HAL_OK;
        for (uint64_t i = 0; i < iterations && status == HAL_OK; ++i) {
            status = issue(collective);
            if (wait_each && status == HAL_OK) {
                status = hal_synchronize_stream(backend_.get(), backend_.device(), stream_.get(), HAL_NO_TIMEOUT);
            }
        }
        check(status, name(collective.operation).data());
        stream_.synchronize();
    }

  private:
    using Options = std::vector<std::pair<std::string, std::string>>;
    [[nodiscard]] Options interface_option(const RankArguments& arguments) const {
        return arguments.hosts == 1 ? Options() : Options{{"xccl_interface", address_}};
    }
    void write(const DeviceMemory& memory, uint64_t first, std::span<const float> data) {
        check(hal_memory_copy_h2d(backend_.get(), backend_.device(), memory.get() + first * sizeof(float), data.data(),
                                  data.size_bytes()),
              "memory_copy_h2d");
    }

    hal_status issue(const Collective& collective) {
        const hal_backend* const backend = backend_.get();
        const hal_dptr send = send_->get();
        const hal_dptr receive = receive_->get();
        const hal_comm comm = communicator_.get();
        const hal_stream stream = stream_.get();
        const uint64_t count = collective.call_count();
        switch (collective.operation) {
            case Operation::all_reduce:
                return hal_xccl_all_reduce(backend, send, receive, count, HAL_F32, HAL_REDUCE_SUM, comm, stream);
            case Operation::broadcast:
                return hal_xccl_broadcast(backend, receive, receive, count, HAL_F32, 0, comm, stream);
            case Operation::all_gather:
                return hal_xccl_all_gather(backend, send, receive, count, HAL_F32, comm, stream);
            case Operation::reduce_scatter:
                return hal_xccl_reduce_scatter(backend, send, receive, count, HAL_F32, HAL_REDUCE_SUM, comm, stream);
            case Operation::alltoall:
                return hal_xccl_alltoall(backend, send, receive, count, HAL_F32, comm, stream);
        }
        return HAL_ERROR_INVALID_ARGUMENT;
    }

    // In the order of their lives: the buffers go first, the back end last.
    std::string address_;
    Backend backend_;
    Stream stream_;
    Communicator communicator_;
    std::unique_ptr<DeviceMemory> send_;
    std::unique_ptr<DeviceMemory> receive_;
};

}  // namespace
}  // namespace hal::bench::xccl

int main(int argc, char** argv) {
    return hal::bench::xccl::run_rank<hal::bench::xccl::HalTransport>("hal-bench-xccl-hal", argc, argv);
}
