#include "xccl/command.hpp"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

namespace hal::bench::xccl {

std::string text(const Command& command) {
    const Collective& collective = command.collective;
    return fmt::format("{} {} {} {} {} {} {}", name(collective.operation), collective.bytes, collective.ranks,
                       collective.hosts, command.iterations, command.warm_up, command.wait_each ? "each" : "end");
}

Command parse_command(const std::string& line) {
    std::istringstream words(line);
    std::string operation;
    std::string wait;
    Command command;
    words >> operation >> command.collective.bytes >> command.collective.ranks >> command.collective.hosts >>
        command.iterations >> command.warm_up >> wait;
    const auto known = operation_named(operation);
    if (!words || !known || (wait != "each" && wait != "end")) {
        throw std::invalid_argument("not a command: " + line);
    }
    command.collective.operation = *known;
    command.wait_each = wait == "each";
    return command;
}

std::filesystem::path command_pipe(const std::filesystem::path& team, int rank) {
    return team / fmt::format("command.{}", rank);
}

std::filesystem::path answer_pipe(const std::filesystem::path& team, int rank) {
    return team / fmt::format("answer.{}", rank);
}

}  // namespace hal::bench::xccl
