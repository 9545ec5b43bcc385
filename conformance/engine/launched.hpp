// Ranks that an outside launcher has started (mpirun, torchrun, a batch system): this program once for each, on one
// host or several. Each runs the worker of its rank; rank 0 is where the ranks' words meet, over one TCP connection
// from each of the others, which must know a token.
#pragma once

#include <string>
#include <vector>

#include "worker_process.hpp"

namespace hal::conformance {

struct Launch {
    int rank = 0;
    int ranks = 1;
    int local = 0;  // among the ranks of this host: which device
    std::string address;
    std::string port;
    std::string token;
};

// From OMPI_COMM_WORLD_RANK, _SIZE and _LOCAL_RANK, or RANK, WORLD_SIZE and LOCAL_RANK; MASTER_ADDR and MASTER_PORT
// (else this host and a port of ours). HAL_CONFORMANCE_TOKEN is the token, else what the launcher calls the job.
// Throws HarnessError with what is missing.
[[nodiscard]] Launch launch_from_environment();

// Whole messages over TCP.
class Wire {
  public:
    explicit Wire(int fd) : fd_(fd) {}
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    void send(const nlohmann::json& message);
    // Nothing if the other side is gone or speaks nonsense.
    [[nodiscard]] std::optional<nlohmann::json> receive();

  private:
    int fd_;
    std::mutex mutex_;  // of senders
};

class Launched {
  public:
    // Meets the other ranks. Throws HarnessError if they do not come.
    explicit Launched(Launch launch);

    [[nodiscard]] int rank() const { return launch_.rank; }
    [[nodiscard]] size_t ranks() const { return static_cast<size_t>(launch_.ranks); }
    // As run_ranks; every rank gets the same attempt.
    [[nodiscard]] Attempt run(const Target& target, const CaseJob& job);

  private:
    void accept_all();
    void connect_to_first();
    Attempt run_first(const Target& target, const CaseJob& job);
    Attempt run_other(const Target& target, const CaseJob& job);

    Launch launch_;
    std::vector<std::unique_ptr<Wire>> wires_;  // rank 0: of each other rank; others: the one to rank 0, in place 0
};

}  // namespace hal::conformance
