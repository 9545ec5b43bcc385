// What the user has not destroyed yet, counted and in words.
#pragma once

#include <cstdint>
#include <string>

namespace hal::shared {

struct LiveObjects {
    uint64_t streams = 0;
    uint64_t events = 0;
    uint64_t allocations = 0;
    uint64_t communicators = 0;

    [[nodiscard]] bool any() const noexcept { return streams + events + allocations + communicators != 0; }
    [[nodiscard]] std::string text() const {
        const auto count = [](uint64_t number, const char* noun) {
            return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
        };
        return count(streams, "stream") + ", " + count(events, "event") + ", " + count(allocations, "allocation") +
               " and " + count(communicators, "communicator");
    }
    LiveObjects& operator+=(const LiveObjects& other) noexcept {
        streams += other.streams;
        events += other.events;
        allocations += other.allocations;
        communicators += other.communicators;
        return *this;
    }
};

}  // namespace hal::shared
