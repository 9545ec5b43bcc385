#include "rank_worker.hpp"

#include <signal.h>
#include <unistd.h>

#include "events_json.hpp"
#include "harness/hex.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

// Between a question and its answer the parent says nothing else.
json answer(const Channel& channel, const char* name) {
    const auto message = channel.receive();
    if (!message || !message->contains(name)) {
        throw HarnessError("a rank has lost its parent");
    }
    return message->at(name);
}

std::vector<std::string> exchange(const Channel& channel, size_t ranks, const std::string& bytes) {
    if (!channel.send(json{{"exchange", hex_of(bytes)}})) {
        throw HarnessError("what a rank has to say is too long for its parent");
    }
    std::vector<std::string> all;
    for (const json& one : answer(channel, "exchanged")) {
        all.push_back(bytes_of_hex(one.get<std::string>()));
    }
    if (all.size() != ranks) {
        throw HarnessError("what the ranks have to say to each other is too long for a message");
    }
    return all;
}

[[noreturn]] void die(const Channel& channel, const Record& record) {
    channel.send(json{{"end", record}, {"metrics", json::array()}, {"meters", json::object()}, {"dies", true}});
    kill(getpid(), SIGKILL);
    _exit(1);
}

}  // namespace

RankLink link_of(const Channel& channel, const json& job) {
    RankLink link;
    link.rank = job.value("rank", 0);
    link.ranks = job.value("ranks", 0);
    link.place = job.value("place", 0);
    link.exchange = [&channel, ranks = static_cast<size_t>(link.ranks)](const std::string& bytes) {
        return exchange(channel, ranks, bytes);
    };
    link.stop = [&channel](std::chrono::milliseconds time) {
        channel.send(json{{"stop_ms", time.count()}});
        (void)answer(channel, "continued");
    };
    link.die = [&channel](const Record& record) { die(channel, record); };
    return link;
}

bool meets(const Target& target, const RankLink& link) {
    const Backend backend(target);
    const Api& api = backend.api();
    const bool up = backend.initialize() == HAL_OK;
    uint64_t size = 0;
    std::string id;
    if (up && link.rank == 0 && api.xccl_get_unique_id_size(&size) == HAL_OK && size <= HAL_MAX_UNIQUE_ID_BYTES) {
        id.resize(size);
        id = api.xccl_get_unique_id(id.data(), size) == HAL_OK ? id : std::string();
    }
    id = link.exchange(id).front();
    hal_comm comm = nullptr;
    const bool met =
        up && !id.empty() && api.xccl_comm_init_rank(0, link.ranks, id.data(), id.size(), link.rank, &comm) == HAL_OK;
    // A rank that was refused has left the other one waiting: both must have come.
    const auto all = link.exchange(met ? "met" : "");
    if (comm != nullptr) {
        (void)api.xccl_destroy_comm(comm);
    }
    (void)backend.finalize();  // whether it succeeds is for the cases
    return std::count(all.begin(), all.end(), "met") == link.ranks;
}

}  // namespace hal::conformance
