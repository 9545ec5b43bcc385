#include "recorder.hpp"

namespace hal::conformance {

constexpr size_t kept_findings = 5;

void Recorder::passed() {
    const std::lock_guard lock(mutex_);
    ++so_far_.checks_ok;
}

void Recorder::failed(Finding finding) {
    const std::lock_guard lock(mutex_);
    ++so_far_.checks_bad;
    if (so_far_.findings.size() < kept_findings) {
        so_far_.findings.push_back(std::move(finding));
    }
}

void Recorder::inconclusive(std::string reason) {
    const std::lock_guard lock(mutex_);
    if (inconclusive_.empty()) {
        inconclusive_ = std::move(reason);
    }
}

bool Recorder::is_inconclusive() const {
    const std::lock_guard lock(mutex_);
    return !inconclusive_.empty();
}

Outcome Recorder::outcome(bool quality_only) const {
    const std::lock_guard lock(mutex_);
    Outcome result = so_far_;
    if (result.checks_bad != 0) {
        result.verdict = quality_only ? Verdict::quality : Verdict::fail;
    }
    if (!inconclusive_.empty()) {
        result.verdict = Verdict::harness_error;
        result.reason = inconclusive_;
    } else if (result.checks_ok + result.checks_bad == 0) {
        result.verdict = Verdict::harness_error;
        result.reason = "the case made no check";
    }
    return result;
}

}  // namespace hal::conformance
