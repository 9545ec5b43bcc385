// What the tests of the loader share: a directory that goes away, an environment that is not this process', a log that
// is kept.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "candidate.hpp"
#include "environment.hpp"
#include "log.hpp"

namespace hal::loader::test {

class Scratch {
  public:
    Scratch() : path_(std::filesystem::temp_directory_path() / "hal-loader-XXXXXX") {
        std::string text = path_.string();
        if (mkdtemp(text.data()) == nullptr) {
            throw std::runtime_error("mkdtemp failed in " + text);
        }
        path_ = std::filesystem::canonical(text);
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] std::string path(std::string_view below = "") const {
        return below.empty() ? path_.string() : (path_ / below).string();
    }

    // Makes the directories on the way.
    std::string write(std::string_view below, std::string_view text) const {
        const std::filesystem::path file = path_ / below;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream stream(file, std::ios::binary);
        stream << text;
        stream.close();
        if (!stream) {
            throw std::runtime_error("cannot write " + file.string());
        }
        return file.string();
    }

    std::string directory(std::string_view below) const {
        std::filesystem::create_directories(path_ / below);
        return path(below);
    }

  private:
    std::filesystem::path path_;
};

struct Line {
    uint32_t level;
    std::string text;
};

// Settings whose log function keeps the lines.
class Recorder {
  public:
    Recorder() {
        settings.log = [](void* self, uint32_t level, const char* text) {
            static_cast<Recorder*>(self)->lines.push_back({level, text});
        };
        settings.log_user_data = this;
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // Lines of a level that contain a text.
    [[nodiscard]] size_t count(uint32_t level, std::string_view part) const {
        return static_cast<size_t>(std::count_if(lines.begin(), lines.end(), [&](const Line& line) {
            return line.level == level && line.text.find(part) != std::string::npos;
        }));
    }

    [[nodiscard]] std::string all() const {
        std::string text;
        for (const Line& line : lines) {
            text += std::to_string(line.level) + " " + line.text + "\n";
        }
        return text;
    }

    Settings settings;
    std::vector<Line> lines;
};

using Variables = std::map<std::string, std::string, std::less<>>;

inline std::string manifest_text(std::string_view id, std::string_view library, std::string_view more = "") {
    std::string text = R"({"schema_version": "1.0", "backend": {"id": ")";
    text.append(id).append(R"(", "library_path": ")").append(library);
    text.append(R"(", "abi": {"min": "1.0", "max": "1.0"})").append(more).append("}}");
    return text;
}

}  // namespace hal::loader::test
