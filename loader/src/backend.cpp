#include "backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"
#include "hal/sdk.hpp"
#include "log.hpp"

namespace hal::loader {

std::string problem_text(std::string_view id, const Problem& problem) {
    return fmt::format("backend {}: {}{}{}{}", id, problem.cause, problem.next_step.empty() ? "" : "; ",
                       problem.next_step, problem.code.empty() ? "" : fmt::format(" [{}]", problem.code));
}

Backend::Backend(const Services& services, Gate& gate, Candidate candidate)
    : services_(services), gate_(gate), candidate_(std::move(candidate)), host_(services, candidate_.manifest) {
    if (candidate_.problem) {
        problem_ = *candidate_.problem;
        state_ = problem_.state;
    }
}

Backend::~Backend() {
    close();
}

void Backend::close() noexcept {
    opened_.reset();
    state_ = HAL_STATE_SHUT_DOWN;
}

const std::string& Backend::id() const {
    return opened_ == nullptr ? candidate_.manifest.id : opened_->id();
}

bool Backend::answers_to(std::string_view id) const {
    return candidate_.manifest.id == id || (opened_ != nullptr && opened_->id() == id);
}

bool Backend::opened_by_this_thread() const {
    return state_ == HAL_STATE_OPENING && opener_ == std::this_thread::get_id();
}

// This thread is the opener, or the opener waits, over any number of steps, for a back end that this thread opens.
bool Backend::would_deadlock() const {
    for (const Backend* backend = this; backend != nullptr && backend->state_ == HAL_STATE_OPENING;) {
        if (backend->opened_by_this_thread()) {
            return true;
        }
        const auto link = std::find_if(gate_.waiting.begin(), gate_.waiting.end(),
                                       [&](const auto& one) { return one.first == backend->opener_; });
        backend = link == gate_.waiting.end() ? nullptr : link->second;
    }
    return false;
}

void Backend::wait(std::unique_lock<std::mutex>& lock) {
    if (would_deadlock()) {
        throw sdk::Error(
            HAL_ERROR_REENTRANT,
            fmt::format("hal called from inside the initialisation of {} on the same thread; a backend must "
                        "not open itself [L060]",
                        candidate_.manifest.id));
    }
    const auto self = std::this_thread::get_id();
    gate_.waiting.emplace_back(self, this);
    gate_.changed.wait(lock, [&] { return state_ != HAL_STATE_OPENING; });
    gate_.waiting.erase(
        std::find(gate_.waiting.begin(), gate_.waiting.end(), std::pair(self, static_cast<const Backend*>(this))));
}

Opened& Backend::answer() const {
    if (state_ == HAL_STATE_READY) {
        return *opened_;
    }
    if (problem_.status == HAL_ERROR_OUT_OF_HOST_MEMORY && state_ == HAL_STATE_DISCOVERED) {
        throw std::bad_alloc();
    }
    throw sdk::Error(problem_.status, problem_text(id(), problem_), vendor_code_);
}

Opened& Backend::open() {
    std::unique_lock lock(gate_.mutex);
    if (state_ == HAL_STATE_OPENING) {
        wait(lock);
        return answer();  // of the try that was waited for, good or bad
    }
    if (state_ != HAL_STATE_DISCOVERED) {
        return answer();
    }
    gate_.order.reserve(gate_.order.size() + 1);
    state_ = HAL_STATE_OPENING;
    opener_ = std::this_thread::get_id();
    gate_.opening.fetch_add(1);
    lock.unlock();

    Outcome outcome = attempt();
    tell(outcome);

    lock.lock();
    const bool first = opened_ == nullptr;
    if (outcome.opened != nullptr) {
        opened_ = std::move(outcome.opened);
    }
    if (opened_ != nullptr && first) {
        gate_.order.push_back(this);
        gate_.fork_unsafe.fetch_add(opened_->plugin().has(HAL_BACKEND_FORK_SAFE) ? 0 : 1);
    }
    device_count_ = outcome.device_count;
    vendor_code_ = outcome.vendor_code;
    problem_ = outcome.problem ? std::move(*outcome.problem) : Problem{.state = HAL_STATE_READY};
    state_ = problem_.state;
    gate_.opening.fetch_sub(1);
    gate_.changed.notify_all();
    return answer();
}

void Backend::renew(Candidate candidate) {
    if (state_ == HAL_STATE_OPENING || state_ == HAL_STATE_READY || state_ == HAL_STATE_DISCOVERED) {
        return;
    }
    if (opened_ == nullptr) {  // else NO_DEVICE: the instance stays and is asked again
        candidate_ = std::move(candidate);
        image_.reset();
        if (candidate_.problem) {
            problem_ = *candidate_.problem;
            state_ = problem_.state;
            return;
        }
    }
    problem_ = {};
    state_ = HAL_STATE_DISCOVERED;
}

hal_backend_report Backend::report() const {
    const Manifest& manifest = candidate_.manifest;
    const Description* plugin = opened_ == nullptr ? nullptr : &opened_->plugin();
    hal_backend_report report{};
    report.state = state_;
    report.status = state_ == HAL_STATE_OPENING ? HAL_IN_PROGRESS : problem_.status;
    report.id = id().c_str();
    report.name = manifest.name.c_str();
    report.vendor = plugin == nullptr || plugin->vendor.empty() ? manifest.vendor.c_str() : plugin->vendor.c_str();
    report.version = plugin == nullptr || plugin->version.empty() ? manifest.version.c_str() : plugin->version.c_str();
    report.manifest = candidate_.manifest_path.c_str();
    report.library = candidate_.library_path.c_str();
    report.code = problem_.code.c_str();
    report.cause = problem_.cause.c_str();
    report.next_step = problem_.next_step.c_str();
    report.rank = candidate_.rank;
    report.device_count = device_count_;
    return report;
}

}  // namespace hal::loader
