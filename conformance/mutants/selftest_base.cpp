#include "selftest_base.hpp"

#include <algorithm>

#include "engine/plan.hpp"

namespace hal::conformance {
namespace {

namespace fs = std::filesystem;

// The overlay's manifest for bases whose memory the host cannot reach.
constexpr std::string_view separate_overlay = "separate";

fs::path overlay_manifest(fs::path manifest) {
    if (manifest.empty()) {
        manifest = fs::read_symlink("/proc/self/exe").parent_path() / HAL_MUTANTS_FROM_PROGRAM / "mutant.json";
    }
    if (!fs::exists(manifest)) {
        throw HarnessError("there are no mutants at " + manifest.string() + "; build or install the target hal_mutant");
    }
    return fs::canonical(manifest);
}

// The least that says what a back end is.
void run_one_case(Job& job) {
    job.arguments = {"--filter", "45079.X.abi.norm.descriptor", "--jobs", "1"};
}

}  // namespace

SelftestBase::SelftestBase(const fs::path& manifest) : overlay_(overlay_manifest(manifest)) {}

Job SelftestBase::job(std::string_view library, const std::string& mutant, uint32_t mib) const {
    Job job;
    job.manifest = library.empty() ? overlay_ : overlay_.parent_path() / (std::string(library) + ".json");
    job.options = {"devices=2", "memory=" + std::to_string(mib) + "m"};
    if (library.empty() || library == separate_overlay) {
        job.options.push_back("mutant=" + mutant);
    }
    return job;
}

Job SelftestBase::job(const Mutant& mutant, uint32_t mib) const {
    return job(mutant.separate ? separate_overlay : mutant.library, std::string(mutant.name), mib);
}

Job SelftestBase::job(const std::string& mutant) const {
    return job("", mutant, usual_mib);
}

bool SelftestBase::offers(const EntryInfo& entry) {
    if (!facts_) {
        Job only = job("");
        run_one_case(only);
        const JobResult result = run_job(only);
        if (!result.log || !result.log->facts) {
            throw HarnessError("the overlay without a mutant does not run: " + result.errors);
        }
        facts_ = result.log->facts->facts;
    }
    return facts_->present[static_cast<size_t>(&entry - entries.data())];
}

bool SelftestBase::offers_table_of(std::string_view id) {
    const EntryInfo* const about = entry_of(id);
    return about == nullptr || std::any_of(entries.begin(), entries.end(), [&](const EntryInfo& entry) {
               return entry.table == about->table && offers(entry);
           });
}

const std::string& SelftestBase::why_none_separate() {
    if (!none_separate_) {
        Job only = job(separate_overlay, "", usual_mib);
        run_one_case(only);
        const JobResult result = fs::exists(only.manifest) ? run_job(only) : JobResult{};
        none_separate_.emplace();
        if (result.exit != 0) {
            *none_separate_ = result.errors.empty() ? only.manifest.string() + " is not installed"
                                                    : result.errors.substr(0, result.errors.find('\n'));
        }
    }
    return *none_separate_;
}

}  // namespace hal::conformance
