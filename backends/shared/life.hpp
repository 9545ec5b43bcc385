// The life of one opened back end: whether it is initialised, and whether this process is the one that opened it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "hal/plugin.h"

namespace hal::shared {

class Life {
  public:
    enum class State : uint32_t { forked = 0, opened, initialized };

    // `backend` is its name, for messages. Throws sdk::Error OUT_OF_RESOURCES, UNSUPPORTED (Linux before 4.14).
    explicit Life(std::string backend);
    ~Life();
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

    // The word lies in a page that the kernel wipes in a forked child, so one load tells all.
    [[nodiscard]] State state() const noexcept { return state_->load(std::memory_order_relaxed); }
    [[nodiscard]] bool forked() const noexcept { return state() == State::forked; }
    // FORKED or NOT_INITIALIZED, whichever holds, with its text.
    [[nodiscard]] hal_status refuse(const hal_host* host) const noexcept;

    void begin() noexcept { state_->store(State::initialized, std::memory_order_release); }
    void end() noexcept { state_->store(State::opened, std::memory_order_release); }
    // What belonged to the life that ended is forgotten: each thread's current device is 0 again.
    void forget() noexcept { number_.fetch_add(1, std::memory_order_relaxed); }

    // What each thread's current device belongs to.
    [[nodiscard]] const std::shared_ptr<const char>& token() const noexcept { return token_; }
    [[nodiscard]] uint32_t number() const noexcept { return number_.load(std::memory_order_relaxed); }
    [[nodiscard]] const std::string& backend() const noexcept { return backend_; }

  private:
    std::string backend_;
    std::atomic<State>* state_;
    std::shared_ptr<const char> token_;
    std::atomic<uint32_t> number_{0};
};

}  // namespace hal::shared
