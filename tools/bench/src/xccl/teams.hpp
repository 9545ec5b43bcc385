// The teams of a run and the samplers that make them work.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmark.hpp"
#include "settings.hpp"
#include "xccl/team.hpp"

namespace hal::bench::xccl {

// Each library's team is started when a row first asks for it, and stays over all rows of its rank count: starting it
// takes longer than measuring. While it is not measured it sleeps.
class Teams {
  public:
    // What the HAL's ranks must know to open the back end under test.
    void set_backend(const Settings& settings);

    // Throws as Team does; a team that could not start is not tried again.
    double run(Library library, const Command& command);

  private:
    struct Slot {
        std::unique_ptr<Team> team;
        std::exception_ptr failure;
    };
    Slot& slot(Library library, const Collective& collective);

    int ranks_ = 0;
    int hosts_ = 0;
    std::map<Library, Slot> slots_;
    std::vector<std::string> backend_;
};

// A sample takes about batch_s: the median of some loops, whose length the first call finds. It is in microseconds a
// call, or in GB/s of the bus.
enum class Figure { microseconds, bus_gigabytes };
[[nodiscard]] Sampler sampler(std::shared_ptr<Teams> teams, Library library, Command command, Figure figure,
                              double batch_s);

}  // namespace hal::bench::xccl
