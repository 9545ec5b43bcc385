#include "loader.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "hal/sdk.hpp"
#include "nearest.hpp"

namespace hal::loader {

namespace {

bool same(const std::vector<Place>& a, const std::vector<Place>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Place& x, const Place& y) {
        return x.path == y.path && x.origin == y.origin && x.note == y.note && x.rank == y.rank && x.used == y.used;
    });
}

void check_index(uint64_t index, uint64_t count) {
    if (index >= count) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, fmt::format("index is {}, there are {}", index, count));
    }
}

bool defect(hal_backend_state state) {
    return problem_level(state, false) == HAL_LOG_WARN;
}

}  // namespace

Loader::Loader(Settings settings)
    : settings_(std::move(settings)),
      environment_(read_process(settings_.flags)),
      log_(environment_, settings_),
      services_{settings_, environment_, log_},
      pid_(getpid()) {
    settings_.entry_ids = name_entries();
    Scan scan = discover(environment_, settings_, log_);
    places_.push_back(std::move(scan.places));
    for (Candidate& candidate : scan.candidates) {
        backends_.push_back(std::make_unique<Backend>(services_, gate_, std::move(candidate)));
    }
}

Loader::~Loader() {
    for (auto backend = gate_.order.rbegin(); backend != gate_.order.rend(); ++backend) {
        (*backend)->close();
    }
}

void Loader::refuse_fork() {
    const int now = getpid();
    if (now == pid_.load()) {
        return;
    }
    if (gate_.fork_unsafe.load() == 0 && gate_.opening.load() == 0 && gate_.mutex.try_lock()) {
        // Only the thread that forked lives on, and no other held the lock: the child may go on with this object.
        gate_.mutex.unlock();
        pid_.store(now);
        return;
    }
    throw sdk::Error(
        HAL_ERROR_FORKED,
        "the process was forked after hal_loader_open; use spawn (or forkserver) instead of fork, or open a "
        "loader in the child [L061]");
}

void Loader::refuse_reentry(const char* function) {
    const std::lock_guard lock(gate_.mutex);
    for (const auto& backend : backends_) {
        if (backend->opened_by_this_thread()) {
            throw sdk::Error(HAL_ERROR_REENTRANT,
                             fmt::format("{} called from inside the initialisation of {} on the same thread [L060]",
                                         function, backend->candidate().manifest.id));
        }
    }
}

void Loader::wait_for_openings() {
    std::unique_lock lock(gate_.mutex);
    gate_.changed.wait(lock, [&] { return gate_.opening.load() == 0; });
}

std::vector<Backend*> Loader::all() {
    const std::lock_guard lock(gate_.mutex);
    std::vector<Backend*> backends(backends_.size());
    std::transform(backends_.begin(), backends_.end(), backends.begin(), [](const auto& one) { return one.get(); });
    return backends;
}

// Back ends of the application have no manifest: their descriptors name them. One that refuses gets a number, and tells
// why when it is opened.
std::vector<std::string> Loader::name_entries() const {
    std::vector<std::string> ids;
    for (const hal_backend_entry_fn entry : settings_.entries) {
        Manifest manifest;
        manifest.id = fmt::format("application.{}", ids.size());
        const Host host(services_, manifest);
        try {
            ids.push_back(describe(entry, host.api(), manifest.id).name);
        } catch (const Refusal&) {
            ids.push_back(manifest.id);
        }
    }
    return ids;
}

// A candidate of a later scan.
void Loader::merge(Candidate candidate) {
    const std::lock_guard lock(gate_.mutex);
    for (const auto& known : backends_) {
        const Candidate& other = known->candidate();
        if (other.manifest_path == candidate.manifest_path && other.entry == candidate.entry) {
            // Found twice in one scan: the first of the two counts.
            if (!candidate.problem || candidate.problem->state != HAL_STATE_DUPLICATE) {
                known->renew(std::move(candidate));
            }
            return;
        }
        // The scan compares its own candidates only: what is in use keeps its id.
        if (!candidate.problem && known->selected() && known->answers_to(candidate.manifest.id)) {
            candidate.problem = {
                HAL_STATE_DUPLICATE, HAL_ERROR_ALREADY_EXISTS, "L070",
                fmt::format("the same id as {}; ignored",
                            other.manifest_path.empty() ? "a backend of the application" : other.manifest_path),
                "give it an id of its own, or remove one of the two"};
        }
    }
    backends_.push_back(std::make_unique<Backend>(services_, gate_, std::move(candidate)));
}

void Loader::enforce() {
    const bool strict = (settings_.flags & HAL_LOADER_STRICT) != 0 || environment_.flag("HAL_STRICT");
    for (Backend* backend : all()) {
        if (!strict && !backend->candidate().manifest.critical) {
            continue;
        }
        try {
            backend->open();
        } catch (const sdk::Error& error) {
            const std::lock_guard lock(gate_.mutex);
            if (defect(backend->state())) {
                throw sdk::Error(
                    error.status(),
                    fmt::format("{} ({})", error.what(), strict ? "HAL_STRICT" : "the manifest says critical"),
                    error.vendor_code());
            }
        }
    }
}

void Loader::rescan() {
    Scan scan = discover(environment_, settings_, log_);
    {
        const std::lock_guard lock(gate_.mutex);
        if (!same(places_.back(), scan.places)) {
            places_.push_back(std::move(scan.places));
        }
    }
    for (Candidate& candidate : scan.candidates) {
        merge(std::move(candidate));
    }
}

uint64_t Loader::report_count() {
    const std::lock_guard lock(gate_.mutex);
    return backends_.size();
}

hal_backend_report Loader::report(uint64_t index) {
    const std::lock_guard lock(gate_.mutex);
    check_index(index, backends_.size());
    return backends_[index]->report();
}

uint64_t Loader::place_count() {
    const std::lock_guard lock(gate_.mutex);
    return places_.back().size();
}

hal_search_place Loader::place(uint64_t index) {
    const std::lock_guard lock(gate_.mutex);
    check_index(index, places_.back().size());
    const Place& place = places_.back()[index];
    return {.path = place.path.c_str(),
            .origin = place.origin.c_str(),
            .note = place.note.c_str(),
            .rank = place.rank,
            .used = place.used ? 1U : 0U};
}

// The one that is used under this id, else one that tells why none is.
Backend& Loader::find(std::string_view id) {
    const std::lock_guard lock(gate_.mutex);
    Backend* refused = nullptr;
    std::vector<std::string_view> known;
    for (const auto& backend : backends_) {
        if (!backend->answers_to(id)) {
            known.push_back(backend->candidate().manifest.id);
            continue;
        }
        if (backend->state() != HAL_STATE_DUPLICATE && backend->state() != HAL_STATE_MASKED) {
            return *backend;
        }
        refused = backend.get();
    }
    if (refused != nullptr) {
        return *refused;
    }
    throw sdk::Error(HAL_ERROR_UNKNOWN_ID, fmt::format("no backend has the id '{}'{} ({} candidates; run 'hal-info')",
                                                       printable(id), did_you_mean(id, known), known.size()));
}

const hal_backend* Loader::open(const char* id) {
    return find(id).open().head();
}

void Loader::say_once(uint32_t level, const std::string& text) {
    {
        const std::lock_guard lock(gate_.mutex);
        if (!said_.insert(text).second) {
            return;
        }
    }
    log_.write(level, text);
}

}  // namespace hal::loader
