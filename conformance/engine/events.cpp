#include "events.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>

#include "events_json.hpp"

namespace hal::conformance {

using nlohmann::json;

std::string utc_now() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    gmtime_r(&now.tv_sec, &parts);
    char text[40];
    const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text + length, sizeof text - length, ".%03ldZ", now.tv_nsec / 1'000'000);
    return text;
}

// ---- Writing ----

LogWriter::LogWriter(const std::filesystem::path& file)
    : path_(file.string()), fd_(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644)) {
    if (fd_ < 0) {
        throw LogError("cannot create " + path_ + ": " + std::strerror(errno) +
                       (errno == EEXIST ? "; choose another --out or remove the old report" : ""));
    }
}

LogWriter::~LogWriter() {
    close(fd_);
}

void LogWriter::line(const char* kind, json value) {
    value["event"] = kind;
    // Texts of a plug-in may be no UTF-8: what is none is replaced, never refused.
    const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    for (size_t done = 0; done < text.size();) {
        const ssize_t wrote = ::write(fd_, text.data() + done, text.size() - done);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0) {
            throw LogError("cannot write " + path_ + ": " + std::strerror(errno) + "; the run is incomplete");
        }
        done += static_cast<size_t>(wrote);
    }
    if (fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS) {  // a pipe or a special file needs none
        throw LogError("cannot write " + path_ + ": " + std::strerror(errno) + "; the run is incomplete");
    }
}

void LogWriter::add(const BeginEvent& event) {
    line("begin", event);
}
void LogWriter::add(const FactsEvent& event) {
    line("facts", event);
}
void LogWriter::add(const TestEvent& event) {
    line("test", event);
}
void LogWriter::add(const EndEvent& event) {
    line("end", event);
}

// ---- Reading ----

namespace {

void take(Log& log, const json& value, bool first) {
    const auto kind = value.at("event").get<std::string>();
    if (first != (kind == "begin")) {
        throw std::invalid_argument(first ? "the log does not begin with its begin event" : "a second begin event");
    }
    if (log.end) {
        throw std::invalid_argument("something follows the end event");
    }
    if (kind == "begin") {
        log.begin = value.get<BeginEvent>();
        if (log.begin.schema != BeginEvent{}.schema) {
            throw std::invalid_argument("schema " + std::to_string(log.begin.schema) + " is not known here");
        }
    } else if (kind == "facts") {
        log.facts = value.get<FactsEvent>();
    } else if (kind == "test") {
        log.tests.push_back(value.get<TestEvent>());
    } else if (kind == "end") {
        log.end = value.get<EndEvent>();
    } else {
        throw std::invalid_argument("an event of unknown kind " + kind);
    }
}

}  // namespace

Log read_log(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) {
        throw LogError("cannot read " + file.string() + ": " + std::strerror(errno));
    }
    Log log;
    std::string text;
    size_t number = 0;
    while (std::getline(stream, text)) {
        ++number;
        try {
            take(log, json::parse(text), number == 1);
        } catch (const std::exception& error) {
            throw LogError(file.string() + ":" + std::to_string(number) + ": " + error.what());
        }
    }
    if (number == 0) {
        throw LogError(file.string() + " is empty");
    }
    return log;
}

}  // namespace hal::conformance
