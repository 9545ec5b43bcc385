// The log of a run, events.jsonl: one JSON object a line, only ever appended, flushed to the disk after each test. It
// is the only source of truth; every report is computed from it.
//
//   begin   suite, target, host, run, and the ids that are to run
//   facts   what the plug-in offers, as it answered before the first case
//   test    one for each id: why it does not apply, or every attempt
//   end     missing if the run was killed
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attempt.hpp"
#include "harness/backend.hpp"
#include "judge.hpp"

namespace hal::conformance {

struct BeginEvent {
    int schema = 1;
    std::string time;  // UTC, ISO 8601
    struct Suite {
        std::string version;
        std::string catalogue;  // hash over all ids, clauses, authorities and needs
        std::string build;      // compiler, sanitizers
    } suite;
    struct Target {
        std::string id;
        std::string manifest;  // absolute
        std::string manifest_sha256;
        std::string library;
        std::string library_sha256;
        std::map<std::string, std::string> options;
    } target;
    std::map<std::string, std::string>
        host;  // system, kernel, cpu, cores, memory_bytes, libc, locale, environment.HAL_*
    struct Run {
        std::vector<std::string> command;
        uint64_t seed = 0;
        bool shuffled = true;
        std::string isolation;
        double timeout_mult = 1;
        int jobs = 1;
        uint64_t repeat = 1;
        std::string profile;
        bool partial = false;  // a filter, a shard or --quick left out ids on purpose
        uint32_t shard = 0;    // 0 of 1: all
        uint32_t shards = 1;
    } run;
    std::vector<std::string> planned;  // ids of instances, in the order in which they are started
};

struct FactsEvent {
    Facts facts;
    Identity identity;
};

struct TestEvent {
    std::string id;
    uint64_t seed = 0;
    std::string time;
    uint64_t ms = 0;
    std::optional<Judgement> not_run;  // why it does not apply; attempts is empty then
    // --repeat gives several groups; a group's runs before its last were inconclusive.
    std::vector<std::vector<Attempt>> attempts;
};

struct EndEvent {
    std::string time;
    bool interrupted = false;
    bool device_lost = false;
    std::string failure;  // of the suite itself, which ended the run early
};

struct Log {
    BeginEvent begin;
    std::optional<FactsEvent> facts;
    std::vector<TestEvent> tests;
    std::optional<EndEvent> end;
};

// The log cannot be written, read or understood; the text names the file, the line and why.
class LogError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

class LogWriter {
  public:
    // The file must not exist. Throws LogError, as everything here.
    explicit LogWriter(const std::filesystem::path& file);
    ~LogWriter();
    LogWriter(const LogWriter&) = delete;
    LogWriter& operator=(const LogWriter&) = delete;

    void add(const BeginEvent& event);
    void add(const FactsEvent& event);
    void add(const TestEvent& event);
    void add(const EndEvent& event);

  private:
    void line(const char* kind, nlohmann::json value);

    std::string path_;
    int fd_;
};

// A truncated log is read as far as whole lines go only if the last line is whole; a damaged one is refused.
[[nodiscard]] Log read_log(const std::filesystem::path& file);

[[nodiscard]] std::string utc_now();

}  // namespace hal::conformance
