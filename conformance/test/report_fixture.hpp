// A small catalogue and the log of a run of it, for the tests of reports.
#pragma once

#include <deque>
#include <memory>

#include "engine/temp_folder.hpp"
#include "report/model.hpp"

namespace hal::conformance {

// Cases of a catalogue that lives as long as this.
class SmallCatalogue {
  public:
    SmallCatalogue& add(std::string_view id, enum authority authority, std::initializer_list<NeedGroup> needed = {},
                        std::initializer_list<over> axes = {});
    [[nodiscard]] Catalogue catalogue() const;

  private:
    std::deque<Case> cases_;
};

// Makes a log event by event.
class LogMaker {
  public:
    // Plans every id of the catalogue; the plug-in has two devices and every entry of tables 1 to 5.
    explicit LogMaker(const Catalogue& catalogue);

    // So that judging it gives this verdict; NOT_IMPLEMENTED and NOT_APPLICABLE follow from facts alone.
    LogMaker& test(const std::string& id, Verdict verdict, enum authority broken = authority::S);
    LogMaker& pass_all();  // what has no event yet and applies
    LogMaker& end() {
        log.end = EndEvent{"2026-03-01T10:05:00.000Z", false, false, ""};
        return *this;
    }

    Log log;

  private:
    const Catalogue& catalogue_;
};

[[nodiscard]] Attempt good_attempt();
[[nodiscard]] Attempt bad_attempt(enum authority authority, std::string what = "the last byte");

// Every verdict, a waiver, figures, a selftest, and texts that try to break each format.
struct RichReport {
    std::deque<std::string> ids;  // that the cases look at
    SmallCatalogue cases;
    Catalogue catalogue;
    Log log;
    Evidence evidence;
};
[[nodiscard]] std::unique_ptr<RichReport> rich_report();

// The folder of a report as a run leaves it; gone with this.
class ReportFolder : public TempFolder {
  public:
    ReportFolder(const Log& log, const Catalogue& catalogue, const Evidence& evidence = {});

    [[nodiscard]] std::string read(const std::string& file) const;
    void write(const std::string& file, const std::string& text) const;
    // Replaces the one place of `from`; throws if there is none.
    void edit(const std::string& file, const std::string& from, const std::string& to) const;
    // As a careful forger does.
    void renew_sums() const;
};

// events.jsonl, and what lies beside it, without the computed files.
void write_log(const std::filesystem::path& folder, const Log& log, const Evidence& evidence);

}  // namespace hal::conformance
