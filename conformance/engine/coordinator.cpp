#include "coordinator.hpp"

#include <algorithm>

namespace hal::conformance {

void Coordinator::said(size_t rank, std::string hex) {
    const std::lock_guard lock(mutex_);
    ranks_[rank].word = std::move(hex);
    answer_if_complete();
}

void Coordinator::gone(size_t rank) {
    const std::lock_guard lock(mutex_);
    ranks_[rank].gone = true;
    answer_if_complete();
    changed_.notify_all();
}

void Coordinator::about_to_kill(size_t rank) {
    std::unique_lock lock(mutex_);
    ranks_[rank].doomed = true;
    changed_.notify_all();
    changed_.wait_for(lock, longest_look, [&] {
        return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& one) { return one.gone || one.doomed; });
    });
}

void Coordinator::answer_if_complete() {
    const bool complete =
        std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& one) { return one.gone || one.word; });
    if (!complete) {
        return;
    }
    nlohmann::json words = nlohmann::json::array();
    for (const Rank& one : ranks_) {
        words.push_back(one.word.value_or(""));
    }
    for (Rank& one : ranks_) {
        if (one.word.has_value() && !one.gone) {
            // What is too long for a message is told as nothing at all, which the rank takes for the suite's fault.
            if (!one.answer({{"exchanged", words}})) {
                (void)one.answer({{"exchanged", nlohmann::json::array()}});
            }
        }
        one.word.reset();
    }
}

}  // namespace hal::conformance
