#include "log.hpp"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "environment.hpp"
#include "nearest.hpp"
#include "text.hpp"

namespace hal::loader {

namespace {

constexpr size_t longest_message = 64 * 1024;  // a search path of a strange environment is long

constexpr uint32_t all_subjects = ~0u;
struct Word {
    std::string_view name;
    uint32_t level;
    uint32_t subjects;
};
constexpr std::array words{
    Word{"error", HAL_LOG_ERROR, 0},
    Word{"warn", HAL_LOG_WARN, 0},
    Word{"info", HAL_LOG_INFO, 0},
    Word{"debug", HAL_LOG_DEBUG, all_subjects},
    Word{"all", HAL_LOG_DEBUG, all_subjects},
    Word{"search", 0, static_cast<uint32_t>(Subject::search)},
    Word{"manifest", 0, static_cast<uint32_t>(Subject::manifest)},
    Word{"load", 0, static_cast<uint32_t>(Subject::load)},
    Word{"probe", 0, static_cast<uint32_t>(Subject::probe)},
    Word{"dispatch", 0, static_cast<uint32_t>(Subject::dispatch)},
    Word{"layer", 0, static_cast<uint32_t>(Subject::layer)},
};

spdlog::level::level_enum spdlog_level(uint32_t level) {
    switch (level) {
        case HAL_LOG_ERROR:
            return spdlog::level::err;
        case HAL_LOG_WARN:
            return spdlog::level::warn;
        case HAL_LOG_INFO:
            return spdlog::level::info;
        default:
            return spdlog::level::debug;
    }
}

// One write call a message, so that lines of several processes do not mix. spdlog's own sinks for stderr share a global
// lock and its file sinks make directories.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    DescriptorSink(int descriptor, bool owned) : descriptor_(descriptor), owned_(owned) {}
    ~DescriptorSink() override {
        if (owned_) {
            close(descriptor_);
        }
    }
    DescriptorSink(const DescriptorSink&) = delete;
    DescriptorSink& operator=(const DescriptorSink&) = delete;

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        const char* next = line.data();
        size_t left = line.size();
        while (left > 0) {
            const ssize_t written = ::write(descriptor_, next, left);
            if (written > 0) {
                next += written;
                left -= static_cast<size_t>(written);
            } else if (written == 0 || errno != EINTR) {
                return;
            }
        }
    }
    void flush_() override {}

  private:
    int descriptor_;
    bool owned_;
};

}  // namespace

struct Log::Sink {
    hal_log_fn function = nullptr;
    void* user_data = nullptr;
    uint32_t level = HAL_LOG_WARN;
    uint32_t subjects = 0;
    std::unique_ptr<spdlog::logger> stream;
    std::string complaint;  // about the settings of the log itself, said once it works

    void read_levels(std::string_view setting, bool elevated);
    void open_stream(std::optional<std::string_view> file);
};

void Log::Sink::read_levels(std::string_view setting, bool elevated) {
    uint32_t asked = 0;
    for (const std::string_view element : list_elements(setting, ',')) {
        const auto* word = std::find_if(words.begin(), words.end(), [&](const Word& w) { return w.name == element; });
        if (word == words.end()) {
            std::array<std::string_view, words.size()> known;
            std::transform(words.begin(), words.end(), known.begin(), [](const Word& w) { return w.name; });
            complaint += "HAL_LOG: unknown word '" + std::string(element) + "'" + did_you_mean(element, known) + " ";
            continue;
        }
        asked = std::max(asked, word->level);
        // Subjects would tell a foreign caller about the files that the privileges open.
        subjects |= elevated ? 0 : word->subjects;
    }
    level = asked == 0 ? level : asked;
}

void Log::Sink::open_stream(std::optional<std::string_view> file) {
    int descriptor = -1;
    if (file) {
        const std::string path(*file);
        const bool absolute = path.front() == '/';
        descriptor =
            absolute ? open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644) : -1;
        if (descriptor < 0) {
            complaint += "HAL_LOG_FILE: " + path + ": " + (absolute ? strerrordesc_np(errno) : "not an absolute path") +
                         "; messages go to stderr ";
        }
    }
    if (descriptor < 0 && function != nullptr) {
        return;
    }
    const bool owned = descriptor >= 0;
    stream = std::make_unique<spdlog::logger>(
        "hal", std::make_shared<DescriptorSink>(owned ? descriptor : STDERR_FILENO, owned));
    stream->set_level(spdlog::level::trace);
    stream->set_error_handler([](const std::string&) {});
    stream->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        owned ? "%Y-%m-%dT%H:%M:%S.%e%z %P %l %v" : "hal: %l: %v", spdlog::pattern_time_type::local, "\n"));
}

Log::Log(const Environment& environment, const Settings& settings) : sink_(std::make_unique<Sink>()) {
    sink_->function = settings.log;
    sink_->user_data = settings.log_user_data;
    sink_->read_levels(environment.get("HAL_LOG").value_or(""), environment.elevated());
    sink_->open_stream(environment.get("HAL_LOG_FILE"));
    for (const std::string& warning : environment.warnings()) {
        warn(warning);
    }
    if (!sink_->complaint.empty()) {
        warn(trimmed(sink_->complaint));
    }
}

Log::~Log() = default;

bool Log::wants(Subject subject) const noexcept {
    return sink_->function != nullptr || sink_->level >= HAL_LOG_DEBUG ||
           (sink_->subjects & static_cast<uint32_t>(subject)) != 0;
}

void Log::debug(Subject subject, std::string_view text) noexcept {
    if (wants(subject)) {
        const bool to_stream = sink_->level >= HAL_LOG_DEBUG || (sink_->subjects & static_cast<uint32_t>(subject)) != 0;
        deliver(HAL_LOG_DEBUG, to_stream, text);
    }
}

void Log::write(uint32_t level, std::string_view text) noexcept {
    // A plug-in may hand any number.
    level = std::clamp(level, HAL_LOG_ERROR, HAL_LOG_DEBUG);
    deliver(level, level <= sink_->level, text);
}

void Log::deliver(uint32_t level, bool to_stream, std::string_view text) noexcept {
    try {
        to_stream = to_stream && sink_->stream != nullptr;
        if (!to_stream && sink_->function == nullptr) {
            return;
        }
        const std::string line = printable(text, longest_message);
        if (sink_->function != nullptr) {
            sink_->function(sink_->user_data, level, line.c_str());
        }
        if (to_stream) {
            sink_->stream->log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
        }
    } catch (...) {  // NOLINT(bugprone-empty-catch): a message that cannot be written must not hurt the work
    }
}

}  // namespace hal::loader
