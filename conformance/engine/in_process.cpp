#include "in_process.hpp"

namespace hal::conformance {

Attempt run_in_process(const Instance& instance, const Target& target, const Facts& facts, uint64_t seed,
                       const Limits& limits, std::function<void(const Finding&)> tell) {
    const auto begin = std::chrono::steady_clock::now();
    Recorder recorder(std::move(tell));
    Attempt attempt;
    try {
        Test test(target, instance, facts, seed, limits, recorder);
        instance.origin->body(test);
        test.clean_up();
        attempt.metrics = test.metrics();
    } catch (const std::exception& error) {
        recorder.harness_error(error.what());
    }
    attempt.record = recorder.record();
    const auto took = std::chrono::steady_clock::now() - begin;
    attempt.ms = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
    return attempt;
}

}  // namespace hal::conformance
