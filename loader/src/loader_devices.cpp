// The devices of a loader: opening every selected candidate, and the words for having none.
#include <fmt/format.h>

#include <algorithm>

#include "hal/sdk.hpp"
#include "loader.hpp"

namespace hal::loader {

std::vector<Device> Loader::devices() {
    const std::vector<Backend*> backends = all();
    for (Backend* backend : backends) {
        try {
            backend->open();
        } catch (
            const sdk::Error&) {  // NOLINT(bugprone-empty-catch): its report keeps the reason, the others are usable
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): as above, and a later call tries again
        }
    }
    std::vector<Device> devices = opened_devices(backends);
    if (devices.empty()) {
        refuse_empty(false);
    }
    devices = select_devices(std::move(devices), environment_.get("HAL_VISIBLE_DEVICES"),
                             environment_.get("HAL_DEFAULT_DEVICE"),
                             [&](const std::string& text) { say_once(HAL_LOG_WARN, text); });
    if (devices.empty()) {
        refuse_empty(true);
    }
    return devices;
}

// Hardware before software, then priority, then the candidates' order. Who gives an order with HAL_BACKENDS_ORDER gets
// that.
std::vector<Device> Loader::opened_devices(const std::vector<Backend*>& backends) {
    const std::lock_guard lock(gate_.mutex);
    std::vector<Backend*> ready;
    std::copy_if(backends.begin(), backends.end(), std::back_inserter(ready),
                 [](const Backend* backend) { return backend->state() == HAL_STATE_READY; });
    const bool by_rule = !environment_.get("HAL_BACKENDS_ORDER");
    if (by_rule) {
        std::stable_sort(ready.begin(), ready.end(), [](const Backend* a, const Backend* b) {
            return a->candidate().manifest.priority > b->candidate().manifest.priority;
        });
    }
    std::vector<Device> devices;
    for (const Backend* backend : ready) {
        for (hal_dev ordinal = 0; ordinal < backend->device_count(); ++ordinal) {
            devices.push_back({backend->opened(), &backend->candidate().manifest, ordinal});
        }
    }
    if (by_rule) {
        std::stable_partition(devices.begin(), devices.end(),
                              [](const Device& device) { return !is_software(device); });
    }
    return devices;
}

void Loader::refuse_empty(bool hidden) {
    if (hidden) {
        const std::string text = fmt::format("HAL_VISIBLE_DEVICES='{}' hides every device",
                                             printable(*environment_.get("HAL_VISIBLE_DEVICES")));
        say_once(HAL_LOG_ERROR, text);
        throw sdk::Error(HAL_ERROR_NO_DEVICE, text);
    }
    std::string reasons;
    std::string searched;
    size_t directories = 0;
    hal_status status = HAL_ERROR_NO_BACKEND;
    {
        const std::lock_guard lock(gate_.mutex);
        for (const auto& backend : backends_) {
            const Problem& problem = backend->problem();
            reasons += "; " + problem_text(backend->id(), problem);
            if (problem.status == HAL_ERROR_NO_DEVICE) {
                status = HAL_ERROR_NO_DEVICE;
            } else if (status == HAL_ERROR_NO_BACKEND) {
                status = HAL_ERROR_ALL_BACKENDS_FAILED;
            }
        }
        for (const Place& place : places_.back()) {
            searched += (searched.empty() ? "" : ", ") + place.path;
            ++directories;
        }
    }
    const std::string text =
        status == HAL_ERROR_NO_BACKEND
            ? fmt::format("no backend manifests in {} places (run 'hal-info --search') [L001]; searched: {}",
                          directories, searched)
            : fmt::format("{}{}; searched: {}",
                          status == HAL_ERROR_NO_DEVICE ? "no device (run 'hal-info')"
                                                        : "no backend could be used (run 'hal-info')",
                          reasons, searched);
    say_once(HAL_LOG_ERROR, text);
    throw sdk::Error(status, text);
}

}  // namespace hal::loader
