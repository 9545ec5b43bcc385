// What benchmarks share in one run; each part is made when the first of them asks for it.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "backend.hpp"
#include "opencl.hpp"
#include "settings.hpp"

namespace hal::bench {

class Context {
  public:
    explicit Context(const Settings& settings) : settings_(settings) {}

    [[nodiscard]] const Settings& settings() const { return settings_; }

    // The back end under test. Throws if it cannot be opened.
    [[nodiscard]] const Backend& backend();
    [[nodiscard]] bool has_backend() const { return backend_ != nullptr; }

    // A queue of the first OpenCL platform, the peer of many rows; nullptr if there is none, with the reason.
    [[nodiscard]] std::shared_ptr<OpenCl> opencl(std::string* absence);

  private:
    const Settings& settings_;
    std::unique_ptr<Backend> backend_;
    std::exception_ptr backend_failure_;  // thrown again for the next benchmark instead of trying again
    std::shared_ptr<OpenCl> opencl_;
    std::string opencl_absence_;
};

}  // namespace hal::bench
