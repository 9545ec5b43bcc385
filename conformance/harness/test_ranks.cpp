// What a case of several ranks does besides.
#include <algorithm>

#include "test.hpp"

namespace hal::conformance {

std::vector<std::string> Test::exchange(const std::string& bytes) {
    if (link_ == nullptr) {
        return {bytes};
    }
    stage("word " + std::to_string(++words_));
    auto all = link_->exchange(bytes);
    stage("");
    return all;
}

bool Test::all_ranks(bool good) {
    const auto all = exchange(good ? "yes" : "no");
    return std::find(all.begin(), all.end(), "no") == all.end();
}

std::string Test::unique_id(int maker, Where where) {
    std::string id;
    if (rank() == maker) {
        uint64_t size = 0;
        if (set_up(api.xccl_get_unique_id_size(&size), "xccl_get_unique_id_size for the case", where) && size > 0 &&
            size <= HAL_MAX_UNIQUE_ID_BYTES) {
            id.resize(size);
            const bool made = set_up(api.xccl_get_unique_id(id.data(), size), "xccl_get_unique_id for the case", where);
            id = made ? id : std::string();
        }
    }
    return exchange(id)[static_cast<size_t>(link_ == nullptr ? 0 : maker)];
}

hal_comm Test::communicator(const std::vector<int>& members, Where where) {
    std::vector<int> of = members;
    for (int one = 0; members.empty() && one < ranks(); ++one) {
        of.push_back(one);
    }
    const std::string id = unique_id(of.front(), where);
    const auto place = std::find(of.begin(), of.end(), rank());
    const bool mine = place != of.end();
    hal_comm comm = nullptr;
    const bool made =
        !mine ||
        (!id.empty() && set_up(api.xccl_comm_init_rank(dev, static_cast<int32_t>(of.size()), id.data(), id.size(),
                                                       static_cast<int32_t>(place - of.begin()), &comm),
                               "xccl_comm_init_rank for the case", where));
    if (comm != nullptr && api.xccl_set_timeout) {
        const auto limit = std::chrono::nanoseconds(limits.finish) / 2;
        set_up(api.xccl_set_timeout(comm, static_cast<uint64_t>(limit.count())), "xccl_set_timeout for the case",
               where);
    }
    comm = comm == nullptr ? nullptr : keep_comm(comm);
    return all_ranks(made) ? comm : nullptr;
}

hal_comm Test::keep_comm(hal_comm comm) {
    comms_.push_back(comm);
    return comm;
}

void Test::forget(hal_comm comm) {
    std::erase(comms_, comm);
}

void Test::stop_process(std::chrono::milliseconds time) {
    if (link_ != nullptr) {
        link_->stop(time);
    }
}

void Test::die() {
    if (link_ != nullptr) {
        link_->die(recorder_.record());
    }
}

void Test::destroy_comms() {
    for (const hal_comm comm : comms_) {
        if (api.xccl_destroy_comm && api.xccl_destroy_comm(comm) != HAL_OK) {
            fail("xccl_destroy_comm after the case", Where::here(), "HAL_OK", Host::last_error().text);
        }
    }
}

}  // namespace hal::conformance
