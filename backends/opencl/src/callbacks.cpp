#include "callbacks.hpp"

#include <pthread.h>

#include <system_error>

#include "instance.hpp"
#include "signals_blocked.hpp"

namespace hal::opencl {
Callbacks::Callbacks(const Instance& instance) {
    const shared::SignalsBlocked blocked;
    try {
        thread_ = std::thread([this, &instance] { work(instance); });
    } catch (const std::system_error& error) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES,
                         std::string("no thread for callbacks: ") + error.what() +
                             "; destroy streams that are not needed, or raise the limit of threads (ulimit -u)",
                         error.code().value());
    }
}

Callbacks::~Callbacks() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Callbacks::promise() {
    const std::lock_guard lock(mutex_);
    ++promised_;
}

void Callbacks::withdraw() noexcept {
    const std::lock_guard lock(mutex_);
    --promised_;
}

// The notice is given under the lock: behind it the thread may end, and this object with it.
void Callbacks::push(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    --promised_;
    changed_.notify_one();
}

void Callbacks::work(const Instance& instance) {
    instance.mark_callback_thread();
    pthread_setname_np(pthread_self(), "hal-opencl");
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return !calls_.empty() || (closing_ && promised_ == 0); });
        if (calls_.empty()) {
            return;
        }
        const std::function<void()> call = std::move(calls_.front());
        calls_.pop_front();
        lock.unlock();
        call();
        lock.lock();
    }
}

}  // namespace hal::opencl
