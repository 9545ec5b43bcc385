// The loader's messages: to the application's function, to HAL_LOG_FILE or to stderr. One Log a loader object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "candidate.hpp"

namespace hal::loader {

// Subjects of HAL_LOG that switch on DEBUG messages of one kind.
enum class Subject : uint32_t { search = 1, manifest = 2, load = 4, probe = 8, dispatch = 16, layer = 32 };

class Log {
  public:
    // Begins with what is odd about the environment, HAL_LOG included.
    Log(const Environment& environment, const Settings& settings);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    void error(std::string_view text) noexcept { write(HAL_LOG_ERROR, text); }
    void warn(std::string_view text) noexcept { write(HAL_LOG_WARN, text); }
    void info(std::string_view text) noexcept { write(HAL_LOG_INFO, text); }
    void debug(Subject subject, std::string_view text) noexcept;

    // Whether a debug message of this subject reaches anybody; ask before making a costly text.
    [[nodiscard]] bool wants(Subject subject) const noexcept;

    // Any thread, also from inside the application's function: no lock is held while that runs. The application's
    // function gets every message, the file or stderr those that HAL_LOG lets through. One line a message: control
    // characters are escaped. Never throws; a message that cannot be written is lost.
    void write(uint32_t level, std::string_view text) noexcept;

  private:
    void deliver(uint32_t level, bool to_stream, std::string_view text) noexcept;

    struct Sink;
    std::unique_ptr<Sink> sink_;
};

// Text of a stranger (manifest, plug-in) made safe for a terminal: control characters and broken UTF-8 escaped, cut at
// `most` bytes.
std::string printable(std::string_view text, size_t most = 256);

}  // namespace hal::loader
