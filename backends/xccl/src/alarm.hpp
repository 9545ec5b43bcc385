// How ranks on different hosts learn that it is over: every rank holds a connection to rank 0, which passes on what it
// hears. A connection that ends without a goodbye is a rank that has died. The set-up of the network uses the same
// connections; data never do.
#pragma once

#include <poll.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "control.hpp"
#include "host.hpp"
#include "introduction.hpp"
#include "unique_id.hpp"

namespace hal::xccl {

// Something that takes part on several hosts: operation `number` of the communicator, or message `number` from one rank
// to another. Where two ranks say different things of it, they have called different things.
struct Activity {
    int32_t from = -1;
    int32_t to = -1;
    uint64_t number = 0;
    Call call;
};

class Alarm {
  public:
    // Blocks until all ranks are connected. `listener` is what this rank's introduction names. Throws sdk::Error as
    // sockets do; UNSUPPORTED if rank 0 can only be reached on its own host.
    Alarm(const std::vector<Introduction>& ranks, int32_t rank, const File& listener, const Secret& secret,
          Deadline deadline);
    // Says goodbye.
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // Collective, before watch(): of `own`, block i goes to rank i; the result's block i comes from it.
    [[nodiscard]] std::vector<std::byte> exchange(const std::vector<std::byte>& own, size_t block_bytes,
                                                  Deadline deadline);

    // From now on the failure of the host is told to the others and theirs becomes the host's; on_failure is called
    // once by the watching thread, whichever came first.
    void watch(Host& host, std::function<void()> on_failure);

    // Brackets the time in which the rank waits for other hosts: if it lasts, the ranks compare what they wait for.
    void begin(std::vector<Activity> activities);
    void end();
    // Until the host has failed, or for a moment: the reason arrives on another way than the end of a connection.
    void await_reason();

  private:
    enum class Kind : uint32_t { failure, waiting, goodbye };
    struct News {
        Kind kind = Kind::goodbye;
        hal_status status = HAL_OK;
        int32_t rank = -1;
        uint32_t reserved = 0;
        Activity activity;
    };
    struct Peer {
        int32_t rank;
        File socket;
    };

    void accept_all(int32_t ranks, const File& listener, const Secret& secret, Deadline deadline);
    void run() noexcept;
    void hear(Peer& peer);
    void understand(const News& news, Peer& from);
    void compare(const Activity& activity, int32_t rank);
    void tell_waiting();
    void tell(const News& news) noexcept;
    void look_at_host();

    const int32_t rank_;
    std::vector<Peer> peers_;  // of rank 0 all others, of the others rank 0
    Host* host_ = nullptr;
    std::function<void()> on_failure_;
    bool told_ = false;
    std::map<std::tuple<int32_t, int32_t, uint64_t>, Call> waited_for_;  // of rank 0: what has been compared

    std::mutex mutex_;
    std::condition_variable reason_;  // the host has failed
    std::vector<Activity> activities_;
    uint64_t since_ns_ = 0;  // 0: nothing is waited for
    File wake_;
    std::vector<pollfd> polled_;
    std::thread thread_;
};

}  // namespace hal::xccl
