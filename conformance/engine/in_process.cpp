#include "in_process.hpp"

#include "harness/meters.hpp"

namespace hal::conformance {
namespace {

std::map<std::string, int64_t> growth(const Meters& before, const Meters& after) {
    const auto grown = [](uint64_t from, uint64_t to) { return static_cast<int64_t>(to) - static_cast<int64_t>(from); };
    return {{"threads", grown(before.threads, after.threads)},
            {"fds", grown(before.fds, after.fds)},
            {"maps", grown(before.maps, after.maps)},
            {"shm", grown(before.shm, after.shm)},
            {"heap_bytes", grown(before.heap_bytes, after.heap_bytes)},
            {"resident_bytes", grown(before.resident_bytes, after.resident_bytes)},
            {"locked_bytes", grown(before.locked_bytes, after.locked_bytes)}};
}

}  // namespace

Attempt run_in_process(const Instance& instance, const Target& target, const Facts& facts, uint64_t seed,
                       const Limits& limits, const Environment& clean, std::function<void(const Finding&)> tell,
                       const RankLink* link) {
    const Meters before = read_meters();
    const auto begin = std::chrono::steady_clock::now();
    Recorder recorder(std::move(tell));
    Attempt attempt;
    try {
        Test test(target, instance, facts, seed, limits, recorder, link);
        instance.origin->body(test);
        test.clean_up();
        attempt.metrics = test.metrics();
    } catch (const std::exception& error) {
        recorder.harness_error(error.what());
    }
    for (std::string& difference : differences(clean, Environment::now())) {
        recorder.failed({"", "what belongs to the process", "as it was before the plug-in was opened",
                         std::move(difference), authority::A});
    }
    attempt.record = recorder.record();
    attempt.meters = growth(before, read_meters());
    const auto took = std::chrono::steady_clock::now() - begin;
    attempt.ms = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
    return attempt;
}

}  // namespace hal::conformance
