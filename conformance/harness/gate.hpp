// Gates: the only means to test ordering. A host callback holds a stream until the test opens it; whatever comes behind
// it must wait, which turns luck into proof. Where a plug-in has no callbacks a load of copies holds the stream for a
// time that was measured before (load.hpp): then "has not returned" is said only while the clock makes it sure, and the
// run is inconclusive otherwise. One closed gate per device at a time: many runtimes run all callbacks on one thread.
// While it is closed nothing on the device may allocate, free or copy synchronously unless that is under test.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "hal/types.h"

namespace hal::conformance {

struct Limits {
    std::chrono::milliseconds callback_entry{5'000};  // from the enqueue until the gate's callback runs
    std::chrono::milliseconds gate_hold{8'000};  // a gate opens itself after this, which makes the run inconclusive
    std::chrono::milliseconds closed_look{30};   // how long a call must not return; not stretched
    std::chrono::milliseconds finish{6'000};     // for anything that must end

    // All but the look; the engine's limit of a case of class fast is 10 s times the same.
    [[nodiscard]] Limits times(double factor) const {
        const auto stretch = [&](std::chrono::milliseconds limit) {
            return std::chrono::milliseconds(static_cast<int64_t>(static_cast<double>(limit.count()) * factor));
        };
        return {stretch(callback_entry), stretch(gate_hold), closed_look, stretch(finish)};
    }
};

class Gate {
  public:
    using Clock = std::chrono::steady_clock;

    Gate() = default;
    // A host callback, which opens itself after `hold`.
    explicit Gate(std::chrono::milliseconds hold);
    // A load of copies, which ends no earlier than `until`. Nothing opens it but time.
    [[nodiscard]] static Gate of_load(Clock::time_point until);
    // One that could not be closed, which a check has already told: nothing more is said about it.
    [[nodiscard]] static Gate broken();

    // The callback and its argument for stream_add_callback.
    static void callback(void* user_data, hal_dev device, hal_stream stream, hal_status status);
    [[nodiscard]] void* argument() const { return state_.get(); }

    // False if the callback did not start within the limit.
    [[nodiscard]] bool wait_entered(std::chrono::milliseconds limit) const;
    void open() const;
    [[nodiscard]] bool expired() const;  // opened itself
    // Opens it after a check has told that a call waited for it: what comes after it says nothing more.
    void give_up() const;
    [[nodiscard]] bool is_broken() const { return state_->broken; }
    // Nothing behind the gate can have run until now.
    [[nodiscard]] bool surely_closed() const;
    // How long to look whether a call returns: `wanted`, or half of the time for which a load surely holds.
    [[nodiscard]] std::chrono::milliseconds look(std::chrono::milliseconds wanted) const;
    // The callback has come and gone, or never came and never will be waited for: memory may go.
    [[nodiscard]] bool left() const;
    // Keeps the memory for a callback that may still come.
    void leak() const;

  private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        std::chrono::milliseconds hold{};
        bool entered = false;
        bool opened = false;
        bool expired = false;
        bool left = false;
        std::atomic<bool> broken{false};
        std::optional<Clock::time_point> until;  // of a load
    };
    std::shared_ptr<State> state_;
};

// A call on a thread of its own.
class Helper {
  public:
    explicit Helper(std::function<hal_status()> call);
    Helper(Helper&&) = default;
    Helper& operator=(Helper&&) = delete;
    ~Helper();

    // True if the call has returned within the limit.
    [[nodiscard]] bool returned_within(std::chrono::milliseconds limit) const;
    // Joins. What the call returned; INTERNAL if it threw, with the text in `error`.
    [[nodiscard]] hal_status status();
    [[nodiscard]] const std::string& error() const { return state_->error; }

  private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        bool started = false;
        bool returned = false;
        hal_status status = HAL_OK;
        std::string error;
    };
    std::shared_ptr<State> state_;
    std::thread thread_;
};

}  // namespace hal::conformance
