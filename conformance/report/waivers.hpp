// Waivers: faults that a vendor knows and that somebody answers for until a day. Every one is written down in a TOML
// file:
//
//   [[waiver]]
//   id = "acme-0017"
//   tests = "45079.T3.stream_add_callback.order.after_prior_work[src=p2p]"   # * only inside [ ]
//   verdict = "FAIL"                       # the one outcome that is allowed
//   message = "callback before copy"       # which the reason or a finding must contain
//   vendor = "acme"
//   device = "npu-910*"
//   driver = ">=5.1,<5.4"
//   reason = "firmware reorders peer copies"
//   tracker = "https://bugs.example/17"
//   owner = "name <mail>"
//   created = 2026-03-01
//   expires = 2026-08-28                   # 180 days at most
//
// What is wrong with one is an error, never a remark: a waiver that does nothing hides the day on which it could go.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/verdict.hpp"
#include "harness/backend.hpp"

namespace hal::conformance {

struct TestResult;

struct Waiver {
    std::string id, tests;
    Verdict verdict = Verdict::fail;
    std::string message, vendor, device, driver, reason, tracker, owner;
    std::string created, expires;  // 2026-03-01
};

struct Waivers {
    std::vector<Waiver> list;
    std::string text;  // of the file, kept with the report
};

// The file cannot be read, or holds what no waiver may say; the text has a line for each fault.
class WaiverError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

[[nodiscard]] Waivers read_waivers(const std::filesystem::path& file);
[[nodiscard]] Waivers parse_waivers(std::string text, const std::string& name);

// What is wrong on a day (2026-03-01) whatever the run brought: expired, not yet made, no case of that id.
[[nodiscard]] std::vector<std::string> waiver_faults(const Waivers& waivers, const std::string& day,
                                                     const std::vector<std::string>& catalogue_ids);

// Marks what is waived, and returns what is wrong: a waiver that matches nothing, is stale or meets another outcome.
// A waiver with a fault waives nothing.
[[nodiscard]] std::vector<std::string> apply_waivers(const Waivers& waivers, std::vector<TestResult>& tests,
                                                     const Identity& identity);

// A pattern of Waiver::tests. Outside brackets every character stands for itself.
[[nodiscard]] bool covers(const Waiver& waiver, std::string_view id);
// Whether a version lies in ">=5.1,<5.4"; "*" takes any.
[[nodiscard]] bool in_range(std::string_view version, std::string_view range);

// A waiver for a bad test with everything but reason and tracker, which a person must write.
[[nodiscard]] std::string waiver_skeleton(const TestResult& test, const Identity& identity, const std::string& today);

// The last day that a waiver made on `day` may have.
[[nodiscard]] std::string latest_expiry(const std::string& day);

}  // namespace hal::conformance
