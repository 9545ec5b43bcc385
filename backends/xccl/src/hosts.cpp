#include "hosts.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace hal::xccl {

Hosts::Hosts(const std::vector<Introduction>& ranks) {
    std::map<std::array<char, 64>, int32_t> known;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        const auto [host, is_new] = known.emplace(ranks[rank].host, count());
        if (is_new) {
            ranks_.emplace_back();
        }
        std::vector<int32_t>& members = ranks_[index(host->second)];
        host_.push_back(host->second);
        local_.push_back(static_cast<int32_t>(members.size()));
        members.push_back(static_cast<int32_t>(rank));
    }
    for (const auto& members : ranks_) {
        first_.push_back(first_.empty() ? 0 : first_.back() + ranks_[first_.size() - 1].size());
        most_ranks_ = std::max<uint64_t>(most_ranks_, members.size());
    }
}

}  // namespace hal::xccl
