#include "gate.hpp"

#include <algorithm>
#include <exception>
#include <vector>

namespace hal::conformance {

Gate::Gate(std::chrono::milliseconds hold) : state_(std::make_shared<State>()) {
    state_->hold = hold;
}

Gate Gate::of_load(Clock::time_point until) {
    Gate gate(std::chrono::milliseconds(0));
    gate.state_->until = until;
    gate.state_->left = true;  // no callback is waited for
    return gate;
}

Gate Gate::broken() {
    Gate gate = of_load(Clock::time_point{});  // long over
    gate.state_->broken = true;
    return gate;
}

void Gate::give_up() const {
    state_->broken = true;
    open();
}

void Gate::callback(void* user_data, hal_dev, hal_stream, hal_status) {
    State& state = *static_cast<State*>(user_data);
    std::unique_lock lock(state.mutex);
    state.entered = true;
    state.changed.notify_all();
    if (!state.changed.wait_for(lock, state.hold, [&] { return state.opened; })) {
        state.expired = true;
    }
    state.left = true;
    state.changed.notify_all();
}

bool Gate::wait_entered(std::chrono::milliseconds limit) const {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, limit, [&] { return state_->entered; });
}

void Gate::open() const {
    const std::lock_guard lock(state_->mutex);
    state_->opened = true;
    state_->changed.notify_all();
}

bool Gate::expired() const {
    const std::lock_guard lock(state_->mutex);
    return state_->expired;
}

bool Gate::surely_closed() const {
    const std::lock_guard lock(state_->mutex);
    return !state_->opened && !state_->expired && (!state_->until || Clock::now() < *state_->until);
}

std::chrono::milliseconds Gate::look(std::chrono::milliseconds wanted) const {
    if (!state_->until) {
        return wanted;
    }
    const auto half = std::chrono::duration_cast<std::chrono::milliseconds>((*state_->until - Clock::now()) / 2);
    return state_->broken ? std::chrono::milliseconds(0) : std::min(wanted, half);
}

bool Gate::left() const {
    const std::lock_guard lock(state_->mutex);
    return state_->left;
}

void Gate::leak() const {
    static std::mutex mutex;
    static auto* const kept =
        new std::vector<std::shared_ptr<State>>;  // never destroyed: the callback may come any time
    const std::lock_guard lock(mutex);
    kept->push_back(state_);
}

Helper::Helper(std::function<hal_status()> call) : state_(std::make_shared<State>()) {
    thread_ = std::thread([state = state_, call = std::move(call)] {
        {
            const std::lock_guard lock(state->mutex);
            state->started = true;
            state->changed.notify_all();
        }
        hal_status status = HAL_ERROR_INTERNAL;
        std::string error;
        try {
            status = call();
        } catch (const std::exception& thrown) {
            error = thrown.what();
        }
        const std::lock_guard lock(state->mutex);
        state->status = status;
        state->error = std::move(error);
        state->returned = true;
        state->changed.notify_all();
    });
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->started; });
}

Helper::~Helper() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool Helper::returned_within(std::chrono::milliseconds limit) const {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, limit, [&] { return state_->returned; });
}

hal_status Helper::status() {
    if (thread_.joinable()) {
        thread_.join();
    }
    return state_->status;
}

}  // namespace hal::conformance
