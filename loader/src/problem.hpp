// Why a candidate is not used, in the words that the user reads.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "hal/loader.h"

namespace hal::loader {

struct Problem {
    hal_backend_state state = HAL_STATE_DISCOVERED;
    hal_status status = HAL_OK;
    std::string code;       // stable: "L012"
    std::string cause;      // what is wrong, with both sides of the comparison
    std::string next_step;  // what the reader can do about it
};

// HAL_LOG_* of the line that tells of a state: what the user named is an ERROR, what a scan found broken a WARN; what
// is absent, foreign to this machine, hidden or deselected is no defect.
uint32_t problem_level(hal_backend_state state, bool named) noexcept;

// Thrown where a candidate is refused; caught once per candidate. std::bad_alloc is never turned into one.
class Refusal : public std::exception {
  public:
    explicit Refusal(Problem problem) : problem_(std::move(problem)) {}
    [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
    [[nodiscard]] const char* what() const noexcept override { return problem_.cause.c_str(); }

  private:
    Problem problem_;
};

}  // namespace hal::loader
