#include "waivers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "escape.hpp"
#include "harness/filter.hpp"
#include "model.hpp"

namespace hal::conformance {
namespace {

using Days = std::chrono::sys_days;
constexpr int longest_days = 180;

// Of "2026-03-01"; the text was made by us or checked by the TOML reader.
Days day_of(const std::string& text) {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    if (std::sscanf(text.c_str(), "%d-%u-%u", &year, &month, &day) != 3) {
        throw WaiverError("'" + text + "' is no date such as 2026-03-01");
    }
    return std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{day};
}

std::string text_of(Days day) {
    const std::chrono::year_month_day date{day};
    char text[32];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u", int{date.year()}, unsigned{date.month()}, unsigned{date.day()});
    return text;
}

std::string in_quotes(std::string_view text) {
    return "'" + one_line(text, 200) + "'";
}

// -1, 0, 1; parts that are no numbers compare as 0.
int compare_versions(std::string_view a, std::string_view b) {
    const auto next = [](std::string_view& rest) {
        unsigned long value = 0;
        const size_t end = std::min(rest.find('.'), rest.size());
        std::from_chars(rest.data(), rest.data() + end, value);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return value;
    };
    while (!a.empty() || !b.empty()) {
        const auto x = next(a);
        const auto y = next(b);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

bool holds(std::string_view version, std::string_view condition) {
    constexpr std::array<std::string_view, 5> operators{">=", "<=", "==", ">", "<"};
    for (const std::string_view op : operators) {
        if (condition.starts_with(op)) {
            const int order = compare_versions(version, condition.substr(op.size()));
            return op == ">="   ? order >= 0
                   : op == "<=" ? order <= 0
                   : op == "==" ? order == 0
                   : op == ">"  ? order > 0
                                : order < 0;
        }
    }
    return compare_versions(version, condition) == 0;
}

// Why a waiver is not for this plug-in; empty if it is.
std::string foreign(const Waiver& waiver, const Identity& identity) {
    if (!matches(waiver.vendor, identity.vendor)) {
        return "it is for vendor " + in_quotes(waiver.vendor) + ", this is " + in_quotes(identity.vendor);
    }
    for (const auto& device : identity.devices) {
        if (matches(waiver.device, device.name) && in_range(device.driver_version, waiver.driver)) {
            return {};
        }
    }
    return "no device here matches " + in_quotes(waiver.device) + " with a driver " + in_quotes(waiver.driver);
}

bool says(const TestResult& test, const std::string& message) {
    if (test.judgement.reason.find(message) != std::string::npos) {
        return true;
    }
    const Attempt* last = test.last();
    return last != nullptr && std::any_of(last->record.findings.begin(), last->record.findings.end(),
                                          [&](const conformance::Finding& one) {
                                              return one.what.find(message) != std::string::npos ||
                                                     one.got.find(message) != std::string::npos ||
                                                     one.expected.find(message) != std::string::npos;
                                          });
}

// The first reason against applying a waiver to a test that ran; empty if there is none.
std::string objection(const Waiver& waiver, const TestResult& test) {
    const std::string verdict(name(test.verdict()));
    if (!test.is_bad() && test.verdict() != Verdict::harness_error) {
        return "is stale: " + test.id + " is " + verdict + " now; remove it or narrow its pattern";
    }
    if (test.verdict() != waiver.verdict) {
        return "is for " + std::string(name(waiver.verdict)) + ", and " + test.id + " is " + verdict;
    }
    if (test.verdict() == Verdict::crash && test.entry != nullptr && test.entry->need == hal::Need::required) {
        return "cannot waive a crash of the mandatory row " + std::string(test.entry->name);
    }
    if (!says(test, waiver.message)) {
        return "expects the message " + in_quotes(waiver.message) + ", and " + test.id + " says " +
               in_quotes(test.judgement.reason);
    }
    return {};
}

}  // namespace

bool covers(const Waiver& waiver, std::string_view id) {
    return matches(waiver.tests, id);
}

bool in_range(std::string_view version, std::string_view range) {
    if (range == "*") {
        return true;
    }
    while (!range.empty()) {
        const size_t end = std::min(range.find(','), range.size());
        if (version.empty() || !holds(version, range.substr(0, end))) {
            return false;
        }
        range.remove_prefix(std::min(end + 1, range.size()));
    }
    return true;
}

std::vector<std::string> waiver_faults(const Waivers& waivers, const std::string& day,
                                       const std::vector<std::string>& catalogue_ids) {
    std::vector<std::string> faults;
    for (const Waiver& waiver : waivers.list) {
        const auto fault = [&](const std::string& text) { faults.push_back("waiver " + waiver.id + " " + text); };
        if (std::none_of(catalogue_ids.begin(), catalogue_ids.end(),
                         [&](const std::string& id) { return covers(waiver, id); })) {
            const auto near = nearest(waiver.tests, catalogue_ids, 1);
            fault("names no case of the catalogue: " + in_quotes(waiver.tests) +
                  (near.empty() ? "" : "; the nearest is " + near.front()));
        }
        if (day_of(waiver.expires) < day_of(day)) {
            fault("expired on " + waiver.expires + ", and the day is " + day);
        }
        if (day_of(waiver.created) > day_of(day)) {
            fault("is made on " + waiver.created + ", after the day " + day);
        }
    }
    return faults;
}

std::vector<std::string> apply_waivers(const Waivers& waivers, std::vector<TestResult>& tests,
                                       const Identity& identity) {
    std::vector<std::string> faults;
    for (const Waiver& waiver : waivers.list) {
        std::vector<TestResult*> targets;
        bool planned = false;
        for (TestResult& test : tests) {
            if (covers(waiver, test.id)) {
                planned = true;
                if (test.verdict() != Verdict::not_run && test.verdict() > Verdict::not_applicable) {
                    targets.push_back(&test);
                }
            }
        }
        std::string fault;
        if (std::string why = foreign(waiver, identity); !why.empty()) {
            fault = "matches nothing: " + why;
        } else if (targets.empty() && planned) {
            fault = "matches nothing: no case of " + in_quotes(waiver.tests) + " ran";
        }
        for (const TestResult* test : targets) {
            fault = fault.empty() ? objection(waiver, *test) : fault;
        }
        if (!fault.empty()) {
            faults.push_back("waiver " + waiver.id + " " + fault);
            continue;
        }
        for (TestResult* test : targets) {
            test->waived_by = waiver.id;
        }
    }
    return faults;
}

std::string latest_expiry(const std::string& day) {
    return text_of(day_of(day) + std::chrono::days{longest_days});
}

std::string waiver_skeleton(const TestResult& test, const Identity& identity, const std::string& today) {
    // JSON's strings are TOML's basic strings.
    const auto text = [](const std::string& value) { return nlohmann::json(one_line(value, 200)).dump(); };
    const std::string device = identity.devices.empty() ? "*" : identity.devices.front().name;
    const std::string driver = identity.devices.empty() ? "" : identity.devices.front().driver_version;
    std::ostringstream out;
    out << "[[waiver]]\n"
        << "id = \"\"                        # a name of yours, unique in this file\n"
        << "tests = " << text(test.id) << "\n"
        << "verdict = \"" << name(test.verdict()) << "\"\n"
        << "message = " << text(test.judgement.reason.substr(0, test.judgement.reason.find(" (and "))) << "\n"
        << "vendor = " << text(identity.vendor) << "\n"
        << "device = " << text(device) << "\n"
        << "driver = " << text(driver.empty() ? "*" : "==" + driver) << "\n"
        << "reason = \"\"                    # why it fails, in a sentence\n"
        << "tracker = \"\"                   # URL of the bug\n"
        << "owner = \"\"                     # name <mail>\n"
        << "created = " << today << "\n"
        << "expires = " << latest_expiry(today) << "             # 180 days at most\n";
    return out.str();
}

}  // namespace hal::conformance
