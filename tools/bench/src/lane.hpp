// A stream whose tasks can be counted, and an event: what the stream rows work with.
#pragma once

#include <cstdint>

#include "backend.hpp"

namespace hal::bench {

// The task itself, for callbacks and for the peers' threads.
inline void count_up(void* counter) {
    ++*static_cast<uint64_t*>(counter);
}

// A stream with a counter that its callbacks raise.
struct Lane {
    const Backend& backend;
    Stream stream;
    uint64_t executed = 0;  // written by the stream's worker, read after synchronize

    explicit Lane(const Backend& tested) : backend(tested), stream(tested) {
        launch();
        stream.synchronize();
    }
    void launch() {
        const auto callback = [](void* counter, hal_dev, hal_stream, hal_status) { count_up(counter); };
        check(hal_stream_add_callback(backend.get(), backend.device(), stream.get(), callback, &executed),
              "stream_add_callback");
    }
};

class Event {
  public:
    explicit Event(const Backend& backend) : backend_(backend) {
        check(hal_create_event(backend.get(), backend.device(), nullptr, &event_), "create_event");
    }
    ~Event() { static_cast<void>(hal_destroy_event(backend_.get(), backend_.device(), event_)); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    [[nodiscard]] hal_event get() const { return event_; }

  private:
    const Backend& backend_;
    hal_event event_ = nullptr;
};

}  // namespace hal::bench
