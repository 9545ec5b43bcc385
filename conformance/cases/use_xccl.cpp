// Tables 10 and 110: one use of each entry with a communicator of one rank, for the cases of use.hpp.
#include "use.hpp"
#include "xccl.hpp"

namespace hal::conformance {
namespace {

// A communicator of a use.
class OwnComm {
  public:
    OwnComm(Test& t, hal_dev dev, Where where = Where::here()) : test_(t), where_(where) {
        uint64_t size = 0;
        t.ok(t.api.xccl_get_unique_id_size(&size), "xccl_get_unique_id_size", where);
        std::string id(size, '\0');
        t.ok(t.api.xccl_get_unique_id(id.data(), size), "xccl_get_unique_id", where);
        t.ok(t.api.xccl_comm_init_rank(dev, 1, id.data(), size, 0, &comm_), "xccl_comm_init_rank", where);
    }
    ~OwnComm() {
        if (comm_ != nullptr) {
            test_.ok(test_.api.xccl_destroy_comm(comm_), "xccl_destroy_comm", where_);
        }
    }
    OwnComm(const OwnComm&) = delete;
    OwnComm& operator=(const OwnComm&) = delete;

    [[nodiscard]] hal_comm get() const { return comm_; }

  private:
    Test& test_;
    hal_comm comm_ = nullptr;
    Where where_;
};

constexpr uint64_t size = 1003;

void wait(Test& t, hal_dev dev, const OwnStream& stream) {
    t.ok(t.api.synchronize_stream(dev, stream.get(), HAL_NO_TIMEOUT), "synchronize_stream");
}

// Of one rank every collective is a copy.
using Copy = std::function<hal_status(hal_dptr send, hal_dptr recv, hal_comm comm, hal_stream stream)>;
void copy(Test& t, hal_dev dev, const Copy& call) {
    const Pattern pattern = t.pattern();
    HostBuffer host(size);
    host.write(pattern);
    const Block send(t, dev, host);
    const Block recv(t, dev, size);
    const OwnComm comm(t, dev);
    const OwnStream stream(t, dev);
    t.ok(call(send.ptr(), recv.ptr(), comm.get(), stream.get()));
    wait(t, dev, stream);
    recv.expect(pattern, "the data of one rank");
}

hal_status to_itself(Test& t, hal_dptr send, hal_dptr recv, hal_comm comm, hal_stream stream) {
    const hal_status started = t.api.xccl_group_start();
    const hal_status sent = t.api.xccl_send(send, size, HAL_U8, 0, comm, stream);
    const hal_status received = t.api.xccl_recv(recv, size, HAL_U8, 0, comm, stream);
    const hal_status ended = t.api.xccl_group_end();
    return started != HAL_OK ? started : sent != HAL_OK ? sent : received != HAL_OK ? received : ended;
}

#define COMM comm_io(), E::create_stream, E::destroy_stream
#define MESSAGES COMM, E::xccl_send, E::xccl_recv, E::xccl_group_start, E::xccl_group_end

HAL_USE(10, 1, xccl_get_unique_id, "leak.loop", authority::A, E::xccl_get_unique_id_size) {
    uint64_t bytes = 0;
    t.ok(t.api.xccl_get_unique_id_size(&bytes));
    std::string first(bytes, '\0');
    std::string second(bytes, '\0');
    t.ok(t.api.xccl_get_unique_id(first.data(), bytes));
    t.ok(t.api.xccl_get_unique_id(second.data(), bytes));
    t.check(first != second, "two ids differ");
}
HAL_USE(10, 2, xccl_get_unique_id_size, "leak.loop", authority::A) {
    uint64_t bytes = 0;
    t.ok(t.api.xccl_get_unique_id_size(&bytes));
    t.check(bytes > 0, "a size");
}
HAL_USE(10, 3, xccl_comm_init_rank, "leak.loop", authority::A, COMM) {
    const OwnComm comm(t, dev);
    t.check(comm.get() != nullptr, "a communicator");
}
HAL_USE(10, 4, xccl_destroy_comm, "leak.loop", authority::A, COMM) {
    const OwnComm first(t, dev);
    const OwnComm second(t, dev);
    t.check(first.get() != second.get(), "two communicators");
}
HAL_USE(10, 5, xccl_all_reduce, "leak.loop", authority::A, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        return t.api.xccl_all_reduce(send, recv, size, HAL_U8, HAL_REDUCE_MAX, comm, stream);
    });
}
HAL_USE(10, 6, xccl_broadcast, "leak.loop", authority::A, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        return t.api.xccl_broadcast(send, recv, size, HAL_U8, 0, comm, stream);
    });
}
HAL_USE(10, 7, xccl_reduce, "leak.loop", authority::A, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        return t.api.xccl_reduce(send, recv, size, HAL_U8, HAL_REDUCE_MAX, 0, comm, stream);
    });
}
HAL_USE(10, 8, xccl_all_gather, "leak.loop", authority::A, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        return t.api.xccl_all_gather(send, recv, size, HAL_U8, comm, stream);
    });
}
HAL_USE(10, 9, xccl_reduce_scatter, "leak.loop", authority::A, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        return t.api.xccl_reduce_scatter(send, recv, size, HAL_U8, HAL_REDUCE_MAX, comm, stream);
    });
}
HAL_USE(10, 10, xccl_group_start, "leak.loop", authority::A, MESSAGES) {
    copy(t, dev, [&](auto... a) { return to_itself(t, a...); });
}
HAL_USE(10, 11, xccl_group_end, "leak.loop", authority::A, MESSAGES) {
    copy(t, dev, [&](auto... a) { return to_itself(t, a...); });
}
HAL_USE(10, 12, xccl_send, "leak.loop", authority::A, MESSAGES) {
    copy(t, dev, [&](auto... a) { return to_itself(t, a...); });
}
HAL_USE(10, 13, xccl_recv, "leak.loop", authority::A, MESSAGES) {
    copy(t, dev, [&](auto... a) { return to_itself(t, a...); });
}
HAL_USE(10, 14, xccl_get_version, "leak.loop", authority::A) {
    hal_version version{};
    version.header.size = sizeof version;
    t.ok(t.api.xccl_get_version(&version));
    t.check(version.major + version.minor + version.patch > 0, "a version");
}
HAL_USE(10, 15, xccl_get_comm_rank, "leak.loop", authority::A, COMM) {
    const OwnComm comm(t, dev);
    int32_t rank = -1;
    t.ok(t.api.xccl_get_comm_rank(comm.get(), &rank));
    t.eq(0, rank, "the only rank");
}
HAL_USE(10, 16, xccl_get_comm_size, "leak.loop", authority::A, COMM) {
    const OwnComm comm(t, dev);
    int32_t ranks = -1;
    t.ok(t.api.xccl_get_comm_size(comm.get(), &ranks));
    t.eq(1, ranks, "the number of ranks");
}
HAL_USE(10, 17, xccl_barrier, "leak.loop", authority::A, COMM) {
    const OwnComm comm(t, dev);
    const OwnStream stream(t, dev);
    t.ok(t.api.xccl_barrier(comm.get(), stream.get()));
    wait(t, dev, stream);
}
HAL_USE(10, 18, xccl_alltoall, "leak.loop", authority::A, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        return t.api.xccl_alltoall(send, recv, size, HAL_U8, comm, stream);
    });
}

// ---- xccl_ext ----

HAL_EXT_USE(xccl_ext, "hal/9", xccl_supported) {
    t.ok(t.api.xccl_supported(HAL_COLL_ALL_REDUCE, HAL_F32, HAL_REDUCE_SUM));
    t.check(t.api.xccl_supported(HAL_COLL_ALL_REDUCE, HAL_F32, 99) != HAL_OK, "no such operation");
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_alltoallv, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        const uint64_t count = size;
        const uint64_t zero = 0;
        return t.api.xccl_alltoallv(send, &count, &zero, recv, &count, &zero, HAL_U8, comm, stream);
    });
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_gather, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        return t.api.xccl_gather(send, recv, size, HAL_U8, 0, comm, stream);
    });
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_scatter, COMM) {
    copy(t, dev, [&](auto send, auto recv, auto comm, auto stream) {
        return t.api.xccl_scatter(send, recv, size, HAL_U8, 0, comm, stream);
    });
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_all_reduce_premul, COMM) {
    const float one = 1;
    const Block block(t, dev, 400);
    const OwnComm comm(t, dev);
    const OwnStream stream(t, dev);
    t.ok(t.api.xccl_all_reduce_premul(block.ptr(), block.ptr(), 100, HAL_F32, &one, comm.get(), stream.get()));
    wait(t, dev, stream);
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_split, COMM) {
    const OwnComm comm(t, dev);
    hal_comm part = nullptr;
    t.ok(t.api.xccl_split(comm.get(), 0, 0, &part));
    t.ok(t.api.xccl_destroy_comm(part));
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_set_timeout, COMM) {
    const OwnComm comm(t, dev);
    t.ok(t.api.xccl_set_timeout(comm.get(), 1'000'000'000));
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_get_async_error, COMM) {
    const OwnComm comm(t, dev);
    t.ok(t.api.xccl_get_async_error(comm.get()));
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_abort, COMM) {
    const OwnComm comm(t, dev);
    t.ok(t.api.xccl_abort(comm.get()));
}
HAL_EXT_USE(xccl_ext, "hal/9", xccl_finalize, COMM) {
    const OwnComm comm(t, dev);
    t.ok(t.api.xccl_finalize(comm.get()));
}

}  // namespace
}  // namespace hal::conformance
