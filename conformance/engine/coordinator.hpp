// What the ranks of one case say to each other by way of the parent: rounds in which every rank that still runs speaks
// once and then hears all. A barrier is a round of nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "channel.hpp"

namespace hal::conformance {

class Coordinator {
  public:
    explicit Coordinator(size_t ranks) : ranks_(ranks) {}
    virtual ~Coordinator() = default;
    Coordinator(const Coordinator&) = delete;
    Coordinator& operator=(const Coordinator&) = delete;

    // Before the first word. The channel outlives the coordinator.
    virtual void join(size_t rank, const Channel& channel) {
        answer(rank, [&channel](const nlohmann::json& words) { return channel.send(words); });
    }
    // How the rank is answered; false if the message is too long.
    using Answer = std::function<bool(const nlohmann::json& words)>;
    void answer(size_t rank, Answer how) { ranks_[rank].answer = std::move(how); }

    // Called by the thread that listens to the rank. The answer goes out when the last one has spoken.
    virtual void said(size_t rank, std::string hex);
    // It has ended, in whatever way: nobody waits for it any more.
    virtual void gone(size_t rank);
    // Of a rank that is about to be killed after the limit: waits until all that still run are here or gone, so that
    // each is looked at before the first one dies.
    virtual void about_to_kill(size_t rank);

  protected:
    static constexpr auto longest_look = std::chrono::seconds(30);  // at the stacks of all ranks

  private:
    struct Rank {
        Answer answer;
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
