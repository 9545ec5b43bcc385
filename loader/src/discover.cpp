#include "discover.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>

#include "environment.hpp"
#include "file.hpp"
#include "filter.hpp"
#include "log.hpp"
#include "machine.hpp"
#include "manifest.hpp"
#include "nearest.hpp"
#include "real_paths.hpp"

namespace hal::loader {

namespace {

std::string abi_text(uint32_t version) {
    return fmt::format("{}.{}", HAL_VERSION_MAJOR_OF(version), HAL_VERSION_MINOR_OF(version));
}

class Discovery {
  public:
    Discovery(const Environment& environment, const Settings& settings, Log& log, const Roots& roots)
        : environment_(environment), settings_(settings), log_(log), roots_(roots) {}

    Scan run() {
        add_entries();
        SearchResult found = search(environment_, settings_, log_, roots_);
        scan_.places = std::move(found.places);
        for (const FoundManifest& file : found.files) {
            add_manifest(file);
        }
        apply_filters(environment_, scan_.candidates, log_);
        for (Candidate& candidate : scan_.candidates) {
            guarded(candidate, [&] { check(candidate); });
            tell(candidate);
        }
        if (scan_.candidates.empty()) {
            tell_of_nothing();
        }
        return std::move(scan_);
    }

  private:
    // One candidate's defect stays its own; only the lack of memory ends the scan.
    template <typename Work>
    static void guarded(Candidate& candidate, const Work& work) {
        try {
            work();
        } catch (const Refusal& refusal) {
            candidate.problem = refusal.problem();
        } catch (const FileError& error) {
            candidate.problem = Problem{HAL_STATE_MANIFEST_UNREADABLE, HAL_ERROR_NOT_FOUND, "L010",
                                        describe(candidate) + ": " + error.text, "scan again"};
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& error) {
            candidate.problem = Problem{HAL_STATE_MANIFEST_INVALID, HAL_ERROR_INTERNAL, "L012",
                                        describe(candidate) + ": " + error.what(), "report this as a defect of hal"};
        }
    }

    void add_entries() {
        for (size_t i = 0; i < settings_.entries.size(); ++i) {
            Candidate candidate;
            candidate.manifest.id = i < settings_.entry_ids.size() ? settings_.entry_ids[i] : "";
            candidate.entry = settings_.entries[i];
            candidate.rank = 0;
            candidate.named = true;
            scan_.candidates.push_back(std::move(candidate));
        }
    }

    void add_manifest(const FoundManifest& file) {
        Candidate candidate;
        candidate.manifest_path = file.path;
        candidate.rank = file.rank;
        candidate.named = file.named;
        std::vector<Remark> remarks;
        guarded(candidate, [&] { read_manifest(file.path, candidate.manifest, remarks); });
        if (!file.masked_by.empty()) {
            candidate.problem =
                Problem{HAL_STATE_MASKED, HAL_ERROR_NOT_FOUND, "L071",
                        fmt::format("{}: hidden by {}", describe(candidate), printable(file.masked_by, 4096)),
                        "rename one of the two files if both are wanted"};
        }
        candidate.manifest.critical = candidate.manifest.critical && file.system;
        remarks_.emplace(file.path, std::move(remarks));
        scan_.candidates.push_back(std::move(candidate));
    }

    void check(Candidate& candidate) {
        if (candidate.problem) {
            return;
        }
        // A candidate that is refused claims nothing: a stale manifest must not shadow a sound one of the same id, and
        // one id may have a manifest for each machine.
        if (const auto winner = ids_.find(candidate.manifest.id); winner != ids_.end()) {
            refuse_duplicate(candidate, "id", winner->second);
        }
        if (candidate.entry == nullptr) {
            check_abi(candidate);
            check_machine(candidate);
            check_requirements(candidate);
            check_library(candidate);
        }
        if (!candidate.manifest.id.empty()) {
            ids_.emplace(candidate.manifest.id, describe(candidate));
        }
    }

    static std::string describe(const Candidate& candidate) {
        return candidate.entry != nullptr ? "a backend of the application" : printable(candidate.manifest_path, 4096);
    }

    [[noreturn]] static void refuse_duplicate(const Candidate& candidate, const char* what, const std::string& winner) {
        throw Refusal({HAL_STATE_DUPLICATE, HAL_ERROR_ALREADY_EXISTS, "L070",
                       fmt::format("{}: same {} as {}; ignored", describe(candidate), what, winner),
                       "remove one of the two if that is not intended"});
    }

    static void check_abi(const Candidate& candidate) {
        const Manifest& manifest = candidate.manifest;
        constexpr uint32_t lowest = HAL_MAKE_VERSION(HAL_ABI_MAJOR, 0);
        if (manifest.abi_min > HAL_ABI_VERSION || manifest.abi_max < lowest) {
            const bool newer = manifest.abi_min > HAL_ABI_VERSION;
            throw Refusal({HAL_STATE_ABI_MISMATCH, HAL_ERROR_ABI, "L032",
                           fmt::format("backend {}: {} says ABI {} to {}, this loader speaks {} to {}", manifest.id,
                                       describe(candidate), abi_text(manifest.abi_min), abi_text(manifest.abi_max),
                                       abi_text(lowest), abi_text(HAL_ABI_VERSION)),
                           newer ? "install a newer hal" : "install a newer version of the backend"});
        }
    }

    static void check_machine(const Candidate& candidate) {
        const Manifest& manifest = candidate.manifest;
        const std::string own = machine_name(own_machine, own_bits);
        if (manifest.arch.empty() || manifest.arch == own) {
            return;
        }
        std::array<std::string_view, machines.size()> known;
        std::transform(machines.begin(), machines.end(), known.begin(),
                       [](const Machine& machine) { return machine.name; });
        const bool is_known = std::find(known.begin(), known.end(), manifest.arch) != known.end();
        throw Refusal({HAL_STATE_ARCH_MISMATCH, HAL_ERROR_UNSUPPORTED, "L021",
                       fmt::format("backend {}: {} is for {}, this process is {}; skipped", manifest.id,
                                   describe(candidate), printable(manifest.arch), own),
                       is_known ? "install the backend for " + own
                                : "unknown machine name" + did_you_mean(manifest.arch, known)});
    }

    static void check_requirements(const Candidate& candidate) {
        for (const std::string& file : candidate.manifest.required_files) {
            struct stat status {};
            // A place that may not be looked into is not proof of absence; the backend itself knows better.
            if (stat(file.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR)) {
                continue;
            }
            throw Refusal(
                {HAL_STATE_REQUIREMENT_MISSING, HAL_ERROR_NO_DEVICE, "L051",
                 fmt::format("backend {}: no device (missing {})", candidate.manifest.id, printable(file, 4096)),
                 candidate.manifest.hint.empty() ? "install the driver of the device"
                                                 : printable(candidate.manifest.hint)});
        }
    }

    void check_library(Candidate& candidate) {
        const std::string located =
            locate_library(candidate.manifest_path, candidate.manifest.library_path, real_paths_);
        candidate.library_path = real_paths_.resolve(located);
        struct stat status {};
        if (candidate.library_path.empty() || stat(candidate.library_path.c_str(), &status) != 0) {
            const int error = errno;
            candidate.library_path = std::filesystem::path(located).lexically_normal();
            throw Refusal(
                {HAL_STATE_LIBRARY_NOT_FOUND, error == EACCES ? HAL_ERROR_PERMISSION : HAL_ERROR_NOT_FOUND, "L020",
                 fmt::format("backend {}: library not found: {} ({}; from \"{}\" in {})", candidate.manifest.id,
                             printable(candidate.library_path, 4096), error_text(error),
                             printable(candidate.manifest.library_path, 4096), describe(candidate)),
                 "install the library, or correct or remove the manifest"});
        }
        const auto [winner, is_new] = libraries_.try_emplace({status.st_dev, status.st_ino}, describe(candidate));
        if (!is_new) {
            refuse_duplicate(candidate, "library", winner->second);
        }
    }

    void tell(const Candidate& candidate) {
        const bool hidden = candidate.problem && (candidate.problem->state == HAL_STATE_MASKED ||
                                                  candidate.problem->state == HAL_STATE_FILTERED);
        if (const auto remarks = remarks_.find(candidate.manifest_path); remarks != remarks_.end() && !hidden) {
            for (const Remark& remark : remarks->second) {
                log_.write(remark.level, "L012 " + remark.text);
            }
        }
        if (candidate.problem) {
            const Problem& problem = *candidate.problem;
            log_.write(problem_level(problem.state, candidate.named),
                       fmt::format("{} {}; {}", problem.code, problem.cause, problem.next_step));
        } else if (log_.wants(Subject::manifest)) {
            log_.debug(Subject::manifest, fmt::format("found backend {}: {}, library {}", candidate.manifest.id,
                                                      describe(candidate), candidate.library_path));
        }
    }

    void tell_of_nothing() {
        std::string paths;
        size_t count = 0;
        for (const Place& place : scan_.places) {
            paths += (count++ == 0 ? "" : ", ") + place.path + " (" + place.note + ")";
        }
        log_.warn(fmt::format("L001 no backend manifests in {} places (run 'hal-info --search'); searched: {}", count,
                              paths));
    }

    const Environment& environment_;
    const Settings& settings_;
    Log& log_;
    const Roots& roots_;
    Scan scan_;
    RealPaths real_paths_;
    std::map<std::string, std::vector<Remark>> remarks_;  // by manifest
    std::map<std::string, std::string> ids_;              // to what holds them
    std::map<std::pair<dev_t, ino_t>, std::string> libraries_;
};

}  // namespace

std::string locate_library(const std::string& manifest_path, const std::string& library_path, RealPaths& real_paths) {
    if (library_path.starts_with('/')) {
        return library_path;
    }
    const std::string manifest = real_paths.resolve(manifest_path);
    if (manifest.empty()) {
        throw FileError{errno, error_text(errno)};
    }
    return manifest.substr(0, manifest.rfind('/') + 1) + library_path;
}

Scan discover(const Environment& environment, const Settings& settings, Log& log, const Roots& roots) {
    return Discovery(environment, settings, log, roots).run();
}

Scan discover(const Environment& environment, const Settings& settings, Log& log) {
    return discover(environment, settings, log, installed_roots());
}

}  // namespace hal::loader
