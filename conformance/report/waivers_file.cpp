// Reading a waiver file; everything that is wrong with it is said at once.
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "escape.hpp"
#include "waivers.hpp"

namespace hal::conformance {
namespace {

constexpr std::array text_fields{"id",     "tests",  "verdict", "message", "vendor",
                                 "device", "driver", "reason",  "tracker", "owner"};
constexpr std::array date_fields{"created", "expires"};

// Four literal segments at least ("45079.T3.<entry>.<category>") and no pattern before the parameters: a waiver is for
// one case.
bool too_broad(std::string_view pattern) {
    const std::string_view head = pattern.substr(0, pattern.find('['));
    return head.find_first_of("*?") != std::string_view::npos || std::count(head.begin(), head.end(), '.') < 3;
}

bool is_url(std::string_view text) {
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (text.starts_with(scheme) && text.size() > scheme.size() && text.find(' ') == std::string_view::npos) {
            return true;
        }
    }
    return false;
}

std::string iso(const toml::date& date) {
    char text[32];
    std::snprintf(text, sizeof text, "%04u-%02u-%02u", unsigned{date.year}, unsigned{date.month}, unsigned{date.day});
    return text;
}

class Reader {
  public:
    explicit Reader(std::string name) : name_(std::move(name)) {}

    void read(const toml::table& file) {
        for (const auto& [key, value] : file) {
            if (key.str() != "waiver" || !value.is_array_of_tables()) {
                fault(value, "holds '" + std::string(key.str()) + "'; a waiver file has [[waiver]] and nothing else");
            }
        }
        if (const toml::array* list = file["waiver"].as_array()) {
            for (const toml::node& node : *list) {
                if (const toml::table* table = node.as_table()) {
                    add(*table);
                }
            }
        }
    }

    [[nodiscard]] std::vector<Waiver> finish() {
        if (!faults_.empty()) {
            throw WaiverError(faults_);
        }
        return std::move(list_);
    }

  private:
    void fault(const toml::node& node, const std::string& text) {
        faults_ += (faults_.empty() ? "" : "\n") + name_ + ":" + std::to_string(node.source().begin.line) + ": " + text;
    }

    void text(const toml::table& table, const char* field, std::string& to) {
        if (const auto value = table[field].value<std::string>(); value && !value->empty()) {
            to = clean(*value);
        } else {
            fault(table, "the waiver lacks " + std::string(field));
        }
    }

    void date(const toml::table& table, const char* field, std::string& to) {
        if (const auto value = table[field].value<toml::date>()) {
            to = iso(*value);
        } else {
            fault(table, "the waiver lacks " + std::string(field) + ", a date such as 2026-03-01 without quotes");
        }
    }

    void unknown_fields(const toml::table& table) {
        for (const auto& [key, value] : table) {
            const auto is = [&](const char* field) { return key.str() == field; };
            if (std::none_of(text_fields.begin(), text_fields.end(), is) &&
                std::none_of(date_fields.begin(), date_fields.end(), is)) {
                fault(value, "a waiver has no field '" + std::string(key.str()) + "'");
            }
        }
    }

    void verdict(const toml::table& table, const std::string& text, Waiver& waiver) {
        if (text.empty()) {
            return;
        }
        try {
            waiver.verdict = verdict_of(text);
        } catch (const std::invalid_argument& error) {
            fault(table, error.what());
            return;
        }
        if (waiver.verdict == Verdict::harness_error) {
            fault(table, "a HARNESS_ERROR is the suite's fault and cannot be waived: report it");
        } else if (!bad(waiver.verdict)) {
            fault(table, text + " is nothing that needs a waiver");
        }
    }

    void limits(const toml::table& table, const Waiver& waiver) {
        if (!waiver.tests.empty() && too_broad(waiver.tests)) {
            fault(table,
                  "'" + waiver.tests + "' is too broad: write the case out; * is for parameters inside [ ] only");
        }
        if (!waiver.tracker.empty() && !is_url(waiver.tracker)) {
            fault(table, "tracker '" + waiver.tracker + "' is no URL");
        }
        if (!waiver.created.empty() && !waiver.expires.empty()) {
            if (waiver.expires > latest_expiry(waiver.created)) {
                fault(table, "runs for more than 180 days: it was made on " + waiver.created +
                                 ", so it can expire on " + latest_expiry(waiver.created) + " at the latest");
            } else if (waiver.expires < waiver.created) {
                fault(table, "expires on " + waiver.expires + ", before it was made on " + waiver.created);
            }
        }
    }

    void add(const toml::table& table) {
        Waiver waiver;
        std::string outcome;
        const std::array<std::string*, text_fields.size()> texts{
            &waiver.id,     &waiver.tests,  &outcome,       &waiver.message, &waiver.vendor,
            &waiver.device, &waiver.driver, &waiver.reason, &waiver.tracker, &waiver.owner};
        for (size_t i = 0; i < texts.size(); ++i) {
            text(table, text_fields[i], *texts[i]);
        }
        date(table, "created", waiver.created);
        date(table, "expires", waiver.expires);
        unknown_fields(table);
        verdict(table, outcome, waiver);
        limits(table, waiver);
        if (!waiver.id.empty() && !ids_.insert(waiver.id).second) {
            fault(table, "a second waiver is called '" + waiver.id + "'");
        }
        list_.push_back(std::move(waiver));
    }

    std::string name_;
    std::string faults_;
    std::set<std::string> ids_;
    std::vector<Waiver> list_;
};

}  // namespace

Waivers parse_waivers(std::string text, const std::string& name) {
    Reader reader(name);
    try {
        reader.read(toml::parse(text, name));
    } catch (const toml::parse_error& error) {
        throw WaiverError(name + ":" + std::to_string(error.source().begin.line) +
                          ": no TOML: " + std::string(error.description()));
    }
    return {reader.finish(), std::move(text)};
}

Waivers read_waivers(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        throw WaiverError("cannot read the waivers " + file.string() + ": " + std::strerror(errno));
    }
    std::ostringstream text;
    text << stream.rdbuf();
    return parse_waivers(text.str(), file.string());
}

}  // namespace hal::conformance
