// A plug-in in the test's own process, with as many entries as the engine's tests need. What it does wrong is asked
// for.
#pragma once

#include <chrono>

#include "harness/test.hpp"

namespace hal::conformance {

// How the fake runs a callback of stream_add_callback.
enum class Callbacks { on_a_thread, never, absent };

// How it runs an asynchronous copy.
enum class Copies { on_a_thread, inside_the_call, never };

struct FakeBehaviour {
    Callbacks callbacks = Callbacks::on_a_thread;
    Copies copies = Copies::on_a_thread;
    std::chrono::microseconds copy_takes{500};
    int fast_after = INT32_MAX;  // as many copies; the later ones take a tenth of the time
    bool refuses_finalize = false;
    bool sync_returns_early = false;
    bool silent_errors = false;  // no text
};

// Of the fakes that are opened from now on.
void set_behaviour(const FakeBehaviour& behaviour);

[[nodiscard]] Target fake_target();

}  // namespace hal::conformance
