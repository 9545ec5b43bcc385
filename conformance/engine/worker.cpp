#include "worker.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "channel.hpp"
#include "events_json.hpp"
#include "harness/trail.hpp"
#include "in_process.hpp"
#include "plan.hpp"
#include "rank_worker.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

// Dies with the parent, leaves no core, and has a name of no meaning: a plug-in should not know who asks.
void settle() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1) {
        _exit(1);  // the parent died before the line above
    }
    prctl(PR_SET_NAME, "host");
    constexpr rlimit none{0, 0};
    if (std::getenv("HAL_CONFORMANCE_CORE") == nullptr) {
        setrlimit(RLIMIT_CORE, &none);
    }
    share_trail(worker_trail_fd);
    close(worker_trail_fd);
    name_exceptions();
}

// Without static destructors, except where a leak checker runs from them.
[[noreturn]] void leave() {
#if defined(__SANITIZE_ADDRESS__)
    std::exit(0);
#else
    _exit(0);
#endif
}

// Allocate, write, read back, compare: is the device still of use?
bool healthy(const Target& target) {
    const Backend backend(target);
    const Api& api = backend.api();
    if (backend.initialize() != HAL_OK) {
        return false;
    }
    bool good = true;
    if (api.device_memory_allocate && api.memory_copy_h2d && api.memory_copy_d2h && api.device_memory_deallocate) {
        constexpr uint64_t size = 4099;
        const Pattern pattern(1, 2);
        HostBuffer source(size);
        source.write(pattern);
        const HostBuffer back(size);
        hal_dptr memory = 0;
        good = api.device_memory_allocate(0, size, &memory) == HAL_OK &&
               api.memory_copy_h2d(0, memory, source.data(), size) == HAL_OK &&
               api.memory_copy_d2h(0, back.data(), memory, size) == HAL_OK && !compare(back.data(), pattern, size) &&
               api.device_memory_deallocate(0, memory, size) == HAL_OK;
    } else {
        good = !api.synchronize_device || api.synchronize_device(0, HAL_NO_TIMEOUT) == HAL_OK;
    }
    return good && backend.finalize() == HAL_OK;
}

const Instance& instance_of(const std::string& id) {
    static const std::vector<Instance> instances = all_instances();
    const Instance* const found = find_instance(instances, id);
    if (found == nullptr) {
        throw HarnessError("the worker knows no case " + id);
    }
    return *found;
}

void run_case(const Channel& channel, const Target& target, const Environment& clean, const json& job) {
    const auto tell = [&](const Finding& finding) { channel.send(json{{"finding", finding}}); };
    const RankLink link = link_of(channel, job);
    const Attempt attempt =
        run_in_process(instance_of(job.at("case").get<std::string>()), target, job.at("facts").get<Facts>(),
                       job.at("seed").get<uint64_t>(), Limits().times(job.at("timeout_mult").get<double>()), clean,
                       tell, link.ranks == 0 ? nullptr : &link);
    channel.send(json{{"end", attempt.record}, {"metrics", attempt.metrics}, {"meters", attempt.meters}});
}

void serve(const Channel& channel, const Target& target, const Environment& clean, const json& job) {
    if (job.contains("introduce")) {
        const Introduction introduction = introduce(target);
        channel.send(json{{"introduction", FactsEvent{introduction.facts, introduction.identity}}});
    } else if (job.contains("probe")) {
        channel.send(json{{"healthy", healthy(target)}});
    } else if (job.contains("meet")) {
        channel.send(json{{"met", meets(target, link_of(channel, job))}});
    } else {
        run_case(channel, target, clean, job);
    }
}

}  // namespace

void worker_main() {
    settle();
    const Environment clean = Environment::now();
    const Channel channel(worker_channel_fd);
    try {
        const auto hello = channel.receive();
        if (!hello) {
            _exit(1);
        }
        const json& open = hello->at("open");
        const Target target = load_target(open.at("manifest").get<std::string>(), open.at("options").get<Options>());
        channel.send(json{{"opened", true}});
        while (const auto job = channel.receive()) {
            serve(channel, target, clean, *job);
        }
    } catch (const LoadError& error) {
        channel.send(json{{"refused", error.what()}});
    } catch (const std::exception& error) {
        channel.send(json{{"fault", error.what()}});
        _exit(1);
    }
    leave();
}

}  // namespace hal::conformance
