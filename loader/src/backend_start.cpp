// What the opening thread does, with no lock held.
#include <fmt/format.h>

#include <filesystem>

#include "backend.hpp"
#include "environment.hpp"
#include "error.hpp"
#include "log.hpp"
#include "preflight.hpp"

namespace hal::loader {

std::string Backend::where() const {
    return candidate_.entry != nullptr ? "linked into the application" : candidate_.library_path;
}

// Preflight, then the dynamic linker. The mapped image is kept for a later try.
hal_backend_entry_fn Backend::load() {
    if (candidate_.entry != nullptr) {
        return candidate_.entry;
    }
    if (!image_) {
        const Library library = preflight(candidate_.library_path, services_.environment.elevated());
        if (library.suspicious) {
            throw Refusal(
                {HAL_STATE_LIBRARY_DAMAGED, HAL_ERROR_ABI, "L022",
                 fmt::format("{} has segments that no linker makes; mapping it could crash this process", library.path),
                 "install the library again"});
        }
        if (library.static_tls) {
            services_.log.warn(
                fmt::format("backend {}: {} uses static TLS, of which a process has little; tell the vendor",
                            candidate_.manifest.id, library.path));
        }
        image_.emplace(library.path);
    }
    return image_->entry();
}

// The library decides; a manifest that says something else is worth a word.
void Backend::compare(const Description& description) const {
    const Manifest& manifest = candidate_.manifest;
    if (description.name != manifest.id) {
        services_.log.warn(fmt::format("backend {}: {} calls itself {}; its own word counts, correct the manifest {}",
                                       manifest.id, where(), description.name, candidate_.manifest_path));
    }
    if (candidate_.entry == nullptr &&
        (description.abi_version < manifest.abi_min || description.abi_version > manifest.abi_max)) {
        services_.log.warn(
            fmt::format("backend {}: the manifest says ABI {} to {}, {} speaks {}; correct the manifest {}",
                        manifest.id, version_text(manifest.abi_min), version_text(manifest.abi_max), where(),
                        version_text(description.abi_version), candidate_.manifest_path));
    }
}

void Backend::start(Outcome& outcome) {
    Opened* opened = opened_.get();  // there already if it had no device last time
    if (opened == nullptr) {
        const hal_backend_entry_fn entry = load();
        Description description = describe(entry, host_.api(), where());
        compare(description);
        outcome.opened = std::make_unique<Opened>(services_, host_, std::move(description), where());
        opened = outcome.opened.get();
    }
    outcome.device_count = opened->count_devices();
    if (outcome.device_count == 0) {
        outcome.problem = {HAL_STATE_NO_DEVICE, HAL_ERROR_NO_DEVICE, "L051", where() + " loaded, no device",
                           candidate_.manifest.hint.empty() ? "check the device and its driver, then rescan"
                                                            : candidate_.manifest.hint};
    }
}

Backend::Outcome Backend::attempt() noexcept {
    Outcome outcome;
    const uint64_t errors = error_count();
    try {
        try {
            start(outcome);
            return outcome;
        } catch (const Refusal& refusal) {
            outcome.problem = refusal.problem();
        } catch (const std::bad_alloc&) {
            outcome.out_of_memory = true;
        } catch (const std::exception& error) {
            outcome.problem = {HAL_STATE_INIT_FAILED, HAL_ERROR_INTERNAL, "L050",
                               fmt::format("{} let an exception out: {}", where(), printable(error.what())),
                               "no exception may leave a plug-in; tell the vendor"};
        } catch (...) {
            outcome.problem = {HAL_STATE_INIT_FAILED, HAL_ERROR_INTERNAL, "L050", where() + " let an exception out",
                               "no exception may leave a plug-in; tell the vendor"};
        }
    } catch (...) {
        outcome.out_of_memory = true;
    }
    outcome.opened.reset();
    outcome.device_count = -1;
    outcome.vendor_code = error_count() == errors ? 0 : last_error().vendor_code;
    if (outcome.out_of_memory) {
        // Short enough to need no memory; the state stays DISCOVERED, so that a later open tries again.
        outcome.problem = {HAL_STATE_DISCOVERED, HAL_ERROR_OUT_OF_HOST_MEMORY, "", "out of memory", "retry"};
    }
    return outcome;
}

void Backend::tell(const Outcome& outcome) const noexcept {
    try {
        if (outcome.problem) {
            const uint32_t level =
                outcome.out_of_memory ? HAL_LOG_ERROR : problem_level(outcome.problem->state, candidate_.named);
            services_.log.write(level, problem_text(candidate_.manifest.id, *outcome.problem));
            return;
        }
        const Opened& opened = outcome.opened != nullptr ? *outcome.opened : *opened_;
        services_.log.info(fmt::format("backend {} {} ABI {} from {} ({}): {} device{}", opened.id(),
                                       opened.plugin().version, version_text(opened.plugin().abi_version), where(),
                                       std::filesystem::path(candidate_.manifest_path).filename().string(),
                                       outcome.device_count, outcome.device_count == 1 ? "" : "s"));
    } catch (...) {  // NOLINT(bugprone-empty-catch): the report has it all; only the line is lost
    }
}

}  // namespace hal::loader
