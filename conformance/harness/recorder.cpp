#include "recorder.hpp"

namespace hal::conformance {

constexpr size_t kept_findings = 5;
constexpr size_t longest_text = 2000;

void Recorder::passed() {
    const std::lock_guard lock(mutex_);
    ++so_far_.checks_ok;
}

void Recorder::failed(Finding finding) {
    const std::lock_guard lock(mutex_);
    ++so_far_.checks_bad[static_cast<size_t>(finding.authority)];
    if (so_far_.findings.size() < kept_findings) {
        for (std::string* text : {&finding.what, &finding.expected, &finding.got}) {
            text->resize(std::min(text->size(), longest_text));
        }
        if (tell_) {
            tell_(finding);
        }
        so_far_.findings.push_back(std::move(finding));
    }
}

void Recorder::inconclusive(std::string reason) {
    const std::lock_guard lock(mutex_);
    if (so_far_.inconclusive.empty()) {
        so_far_.inconclusive = std::move(reason);
    }
}

void Recorder::harness_error(std::string reason) {
    const std::lock_guard lock(mutex_);
    if (so_far_.harness_error.empty()) {
        so_far_.harness_error = std::move(reason);
    }
}

Record Recorder::record() const {
    const std::lock_guard lock(mutex_);
    return so_far_;
}

}  // namespace hal::conformance
