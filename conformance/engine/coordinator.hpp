// What the ranks of one case say to each other by way of the parent: rounds in which every rank that still runs speaks
// once and then hears all. A barrier is a round of nothing.
#pragma once

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "channel.hpp"

namespace hal::conformance {

class Coordinator {
  public:
    explicit Coordinator(size_t ranks) : ranks_(ranks) {}

    // Before the first word. The channel outlives the coordinator.
    void join(size_t rank, const Channel& channel) { ranks_[rank].channel = &channel; }

    // Called by the thread that listens to the rank. The answer goes out when the last one has spoken.
    void said(size_t rank, std::string hex);
    // It has ended, in whatever way: nobody waits for it any more.
    void gone(size_t rank);
    // Of a rank that is about to be killed after the limit: waits until all that still run are here or gone, so that
    // each is looked at before the first one dies.
    void about_to_kill(size_t rank);

  private:
    struct Rank {
        const Channel* channel = nullptr;
        bool gone = false;
        bool doomed = false;
        std::optional<std::string> word;
    };
    void answer_if_complete();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Rank> ranks_;
};

}  // namespace hal::conformance
