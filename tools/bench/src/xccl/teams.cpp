#include "xccl/teams.hpp"

#include <algorithm>

#include "statistics.hpp"

namespace hal::bench::xccl {
namespace {

// A loop in which a rank lost its core does not count.
constexpr int loops_of_sample = 5;

// Ranks have slept before a loop, and a kernel takes some time until it gives each a core of its own: without this an
// all-reduce of 8 bytes took 0.2 us in one loop and 3 us in the next.
constexpr double warm_up_ns = 15e6;

class LoopSampler {
  public:
    LoopSampler(std::shared_ptr<Teams> teams, Library library, const Command& command, double batch_s)
        : teams_(std::move(teams)), library_(library), command_(command), loop_ns_(batch_s * 1e9 / loops_of_sample) {}

    // Nanoseconds a call.
    double operator()() {
        if (!calibrated_) {
            calibrate();
        }
        std::vector<double> calls;
        for (double left_ns = loop_ns_ * loops_of_sample;
             calls.empty() || (left_ns > 0 && calls.size() < loops_of_sample);) {
            const double took = loop();
            calls.push_back(took / static_cast<double>(command_.iterations));
            left_ns -= std::max(took, loop_ns_ / 2);
        }
        return median(calls);
    }

  private:
    double loop() { return std::max(teams_->run(library_, command_), 1.0); }

    void calibrate() {
        for (command_.iterations = 1;; command_.iterations *= 4) {
            const double took = loop();
            if (took >= loop_ns_ / 4) {
                const double wanted = static_cast<double>(command_.iterations) * loop_ns_ / took;
                command_.iterations = std::max<uint64_t>(static_cast<uint64_t>(wanted), 1);
                command_.warm_up =
                    static_cast<uint64_t>(static_cast<double>(command_.iterations) * warm_up_ns / loop_ns_);
                calibrated_ = true;
                return;
            }
        }
    }

    std::shared_ptr<Teams> teams_;
    Library library_;
    Command command_;
    double loop_ns_;
    bool calibrated_ = false;
};

}  // namespace

void Teams::set_backend(const Settings& settings) {
    backend_ = {settings.backend};
    backend_.insert(backend_.end(), settings.manifests.begin(), settings.manifests.end());
}

double Teams::run(Library library, const Command& command) {
    Slot& chosen = slot(library, command.collective);
    try {
        return chosen.team->run(command);
    } catch (const Unavailable&) {
        throw;
    } catch (...) {
        chosen.team.reset();  // the next row begins with a new one
        throw;
    }
}

Teams::Slot& Teams::slot(Library library, const Collective& collective) {
    if (collective.ranks != ranks_ || collective.hosts != hosts_) {
        slots_.clear();
        ranks_ = collective.ranks;
        hosts_ = collective.hosts;
    }
    Slot& chosen = slots_[library];
    if (chosen.failure) {
        std::rethrow_exception(chosen.failure);
    }
    if (!chosen.team) {
        try {
            chosen.team = std::make_unique<Team>(library, ranks_, hosts_,
                                                 library == Library::hal ? backend_ : std::vector<std::string>());
        } catch (...) {
            chosen.failure = std::current_exception();
            throw;
        }
    }
    return chosen;
}

Sampler sampler(std::shared_ptr<Teams> teams, Library library, Command command, Figure figure, double batch_s) {
    LoopSampler call_ns(std::move(teams), library, command, batch_s);
    if (figure == Figure::microseconds) {
        return [call_ns]() mutable { return call_ns() / 1e3; };
    }
    const double bus_bytes = static_cast<double>(command.collective.bytes) * command.collective.bus_factor();
    return [call_ns, bus_bytes]() mutable { return bus_bytes / call_ns(); };
}

}  // namespace hal::bench::xccl
