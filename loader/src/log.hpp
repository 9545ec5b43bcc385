// The loader's messages: to the application's function, to HAL_LOG_FILE or to stderr. One Log a loader object.
#pragma once

#include <memory>
#include <string_view>

#include "candidate.hpp"

namespace hal::loader {

// Subjects of HAL_LOG that switch on DEBUG messages of one kind.
enum class Subject : uint32_t { search = 1, manifest = 2, load = 4, probe = 8, dispatch = 16, layer = 32 };

class Log {
  public:
    Log(const Environment& environment, const Settings& settings);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    void error(std::string_view text) noexcept { write(HAL_LOG_ERROR, text); }
    void warn(std::string_view text) noexcept { write(HAL_LOG_WARN, text); }
    void info(std::string_view text) noexcept { write(HAL_LOG_INFO, text); }
    void debug(Subject subject, std::string_view text) noexcept;

    // Any thread. Control characters are escaped; never throws.
    void write(uint32_t level, std::string_view text) noexcept;

  private:
    struct Sink;
    std::unique_ptr<Sink> sink_;
};

// Text of a stranger (manifest, plug-in) made safe for a terminal: control characters and broken UTF-8 escaped, cut at `most` bytes.
std::string printable(std::string_view text, size_t most = 256);

}  // namespace hal::loader
