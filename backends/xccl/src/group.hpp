// What a thread has put into its group: groups are per thread and nest, and nothing of them is issued before the
// outermost ends. An error in one is told there, and then nothing is issued.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "communicator.hpp"

namespace hal::xccl {

// What is issued together on one communicator.
struct Part {
    std::shared_ptr<Communicator> communicator;
    Communicator::Issue issue;
};

struct Group {
    uint32_t depth = 0;
    std::optional<sdk::Error> error;           // the first
    std::vector<Part> parts;                   // one a communicator, in the order of their first operations
    std::vector<std::function<void()>> joins;  // communicators to be made, all at once: their ranks wait for each other

    void add(Part part);
    // Throws the error, or what joining and issuing throw.
    void run();
};

// Of this thread and that engine; nullptr outside a group.
[[nodiscard]] Group* current_group(uint64_t engine) noexcept;
void start_group(uint64_t engine);
// The group that ended, or nullopt if it was an inner one. Throws INVALID_ARGUMENT outside a group.
[[nodiscard]] std::optional<Group> end_group(uint64_t engine);

}  // namespace hal::xccl
