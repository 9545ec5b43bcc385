// Drivers change the process when they start: LLVM installs handlers for its stack traces, PoCL one for division by
// zero and variables for hwloc. Both belong to the application: what a driver changes while this object lives is put
// back.
#pragma once

#include <signal.h>

#include <array>
#include <map>
#include <string>

namespace hal::opencl {

class KeepProcess {
  public:
    KeepProcess();
    ~KeepProcess();
    KeepProcess(const KeepProcess&) = delete;
    KeepProcess& operator=(const KeepProcess&) = delete;

  private:
    std::array<struct sigaction, NSIG> handlers_{};
    std::map<std::string, std::string> variables_;
};

}  // namespace hal::opencl
