#include "launched.hpp"

#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "coordinator.hpp"
#include "events_json.hpp"
#include "rank_group.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

std::string variable(std::initializer_list<const char*> names) {
    for (const char* const name : names) {
        if (const char* const value = std::getenv(name)) {
            return value;
        }
    }
    return "";
}

int number(std::initializer_list<const char*> names, int fallback) {
    const std::string text = variable(names);
    if (text.empty() && fallback < 0) {
        throw HarnessError("--ranks-from-env: there is no " + std::string(*names.begin()) +
                           "; start this program with mpirun, or set RANK and WORLD_SIZE");
    }
    if (text.empty()) {
        return fallback;
    }
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end) {
        throw HarnessError("--ranks-from-env: \"" + text + "\" is no number of a rank or of ranks");
    }
    return value;
}

// The words of this host's rank go to rank 0, whose answers come to the worker.
class Remote : public Coordinator {
  public:
    explicit Remote(Wire& wire) : Coordinator(0), wire_(wire) {}

    void join(size_t, const Channel& channel) override { channel_ = &channel; }
    void said(size_t, std::string hex) override { wire_.send({{"said", hex}}); }
    void gone(size_t) override {}
    void about_to_kill(size_t) override {
        wire_.send({{"doomed", true}});
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, longest_look, [&] { return kill_; });
    }
    // Until rank 0 has put the attempts together, or is gone.
    Attempt listen() {
        while (const auto message = wire_.receive()) {
            if (message->contains("exchanged")) {
                channel_->send(*message);
            } else if (message->contains("kill")) {
                const std::lock_guard lock(mutex_);
                kill_ = true;
                changed_.notify_all();
            } else if (message->contains("merged")) {
                return message->at("merged").get<Attempt>();
            }
        }
        Attempt lost;
        lost.ending = {Ending::Kind::refused, 0, "rank 0 is gone", {}};
        return lost;
    }

  private:
    Wire& wire_;
    const Channel* channel_ = nullptr;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool kill_ = false;
};

// What rank 0 hears of another one during a case.
Attempt hear(Coordinator& coordinator, size_t rank, Wire& wire) {
    while (const auto message = wire.receive()) {
        if (message->contains("said")) {
            coordinator.said(rank, message->at("said").get<std::string>());
        } else if (message->contains("doomed")) {
            coordinator.about_to_kill(rank);
            wire.send({{"kill", true}});
        } else if (message->contains("done")) {
            return message->at("done").get<Attempt>();
        }
    }
    Attempt lost;
    lost.ending = {Ending::Kind::refused, 0, "the connection to rank " + std::to_string(rank) + " is gone", {}};
    return lost;
}

Attempt run_own(const Target& target, const CaseJob& job, Coordinator& coordinator, const Launch& launch) {
    WorkerProcess worker(target);
    worker.join(coordinator, static_cast<size_t>(launch.rank), static_cast<size_t>(launch.ranks), launch.local);
    Attempt attempt = worker.run(job);
    worker.end(attempt);
    return attempt;
}

}  // namespace

Launch launch_from_environment() {
    Launch launch;
    launch.rank = number({"OMPI_COMM_WORLD_RANK", "RANK"}, -1);
    launch.ranks = number({"OMPI_COMM_WORLD_SIZE", "WORLD_SIZE"}, -1);
    launch.local = number({"OMPI_COMM_WORLD_LOCAL_RANK", "LOCAL_RANK"}, launch.rank);
    if (launch.ranks < 1 || launch.rank < 0 || launch.rank >= launch.ranks) {
        throw HarnessError("--ranks-from-env: rank " + std::to_string(launch.rank) + " of " +
                           std::to_string(launch.ranks) + " makes no sense");
    }
    const std::string address = variable({"MASTER_ADDR"});
    const std::string port = variable({"MASTER_PORT"});
    launch.address = address.empty() ? "127.0.0.1" : address;
    launch.port = port.empty() ? "29517" : port;
    launch.token = variable({"HAL_CONFORMANCE_TOKEN", "PMIX_NAMESPACE", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID"});
    return launch;
}

Launched::Launched(Launch launch) : launch_(std::move(launch)) {
    if (launch_.rank == 0) {
        accept_all();
    } else {
        connect_to_first();
    }
}

Attempt Launched::run(const Target& target, const CaseJob& job) {
    return launch_.rank == 0 ? run_first(target, job) : run_other(target, job);
}

Attempt Launched::run_first(const Target& target, const CaseJob& job) {
    for (size_t rank = 1; rank < ranks(); ++rank) {
        const auto message = wires_[rank]->receive();
        if (!message || message->value("ready", "") != job.id) {
            throw HarnessError("rank " + std::to_string(rank) + " is not ready for " + job.id +
                               ": is it gone, or does its back end offer something else?");
        }
    }
    Coordinator coordinator(ranks());
    std::vector<Attempt> attempts(ranks());
    std::vector<std::thread> threads;
    for (size_t rank = 1; rank < ranks(); ++rank) {
        Wire& wire = *wires_[rank];
        coordinator.answer(rank, [&wire](const json& words) {
            wire.send(words);
            return true;
        });
        wire.send({{"go", true}});
        threads.emplace_back([&, rank] {
            attempts[rank] = hear(coordinator, rank, *wires_[rank]);
            coordinator.gone(rank);
        });
    }
    attempts[0] = run_own(target, job, coordinator, launch_);
    coordinator.gone(0);
    for (std::thread& thread : threads) {
        thread.join();
    }
    Attempt whole = merged(attempts);
    for (size_t rank = 1; rank < ranks(); ++rank) {
        wires_[rank]->send({{"merged", whole}});
    }
    return whole;
}

Attempt Launched::run_other(const Target& target, const CaseJob& job) {
    Wire& wire = *wires_.front();
    wire.send({{"ready", job.id}});
    if (const auto go = wire.receive(); !go || !go->contains("go")) {
        throw HarnessError("rank 0 is gone");
    }
    Remote remote(wire);
    Attempt whole;
    WorkerProcess worker(target);
    worker.join(remote, static_cast<size_t>(launch_.rank), ranks(), launch_.local);
    std::thread listener([&] { whole = remote.listen(); });
    Attempt own = worker.run(job);
    worker.end(own);
    wire.send({{"done", own}});
    listener.join();
    return whole;
}

}  // namespace hal::conformance
