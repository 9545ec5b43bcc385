// The folder of a report. events.jsonl is written by the run; everything else here is computed from it.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "model.hpp"

namespace hal::conformance {

namespace names {
inline constexpr const char* events = "events.jsonl";
inline constexpr const char* waivers = "waivers.toml";
inline constexpr const char* selftest = "selftest.json";
inline constexpr const char* json = "report.json";
inline constexpr const char* junit = "junit.xml";
inline constexpr const char* html = "report.html";
inline constexpr const char* markdown = "report.md";
inline constexpr const char* tap = "report.tap";
inline constexpr const char* sums = "SHA256SUMS";
}  // namespace names

// "json", "junit", "html", "md", "tap".
using Formats = std::set<std::string>;
[[nodiscard]] const Formats& default_formats();  // all but tap
// Of "json,html"; throws std::invalid_argument with what there is.
[[nodiscard]] Formats formats_of(const std::string& text);

// What `selftest --out` wrote. Throws LogError.
[[nodiscard]] Power read_power(const std::filesystem::path& file);
// What lies beside the log in a folder: waivers and selftest. Throws WaiverError, LogError.
[[nodiscard]] Evidence read_evidence(const std::filesystem::path& folder);
// The model of a folder. Throws LogError if the log is of another catalogue than this program's.
[[nodiscard]] Model read_model(const std::filesystem::path& folder, const Catalogue& catalogue);

// The disk refuses a file of the report.
class WriteError : public LogError {
  public:
    using LogError::LogError;
};

// Writes the formats, logs/<id>.txt of bad tests, waivers.toml, and SHA256SUMS over everything. What an earlier call
// wrote is replaced. Throws WriteError.
void write_folder(const std::filesystem::path& folder, const Model& model, const Formats& formats = default_formats());

// The files of logs/ with their texts.
[[nodiscard]] std::map<std::string, std::string> logs_of(const Model& model);

// "45079.T2.memory_copy_h2d.norm.full[size=1]" is a name that any file system takes.
[[nodiscard]] std::string log_name(const std::string& id);

}  // namespace hal::conformance
