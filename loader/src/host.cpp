#include "host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "environment.hpp"
#include "error.hpp"
#include "guard.hpp"
#include "kernel_rank.hpp"
#include "log.hpp"
#include "opened.hpp"

namespace hal::loader {

namespace {

constexpr size_t longest_text = 3000;

std::string_view limited(const char* text) {
    return text == nullptr ? std::string_view("(no text)") : std::string_view(text, strnlen(text, longest_text));
}

}  // namespace

Host::Host(const Services& services, const Manifest& manifest)
    : hal_host{sizeof(hal_host), HAL_ABI_VERSION, &set_error, &log, &get_option, &add_kernels, &trace},
      services_(services),
      manifest_(manifest) {}

void Host::set_error(const hal_host* host, hal_status status, int64_t vendor_code, const char* text) {
    const std::string& id = of(host).manifest_.id;
    // A number that the framework cannot know, or one that is no error, would be passed on as if it meant something.
    const bool sound = known_status(status) && status < HAL_OK;
    const hal_status kept = sound ? status : HAL_ERROR_INTERNAL;
    try {
        const std::string shown = printable(limited(text), longest_text);
        static_cast<void>(loader::set_error(
            kept, id,
            sound ? shown
                  : fmt::format("{} (set with {}, which is no error status)", shown, static_cast<int32_t>(status)),
            vendor_code));
    } catch (...) {
        // Out of memory is the very time when a back end reports an error: keep its status, give up its text.
        static_cast<void>(loader::set_error(kept, id, "out of host memory", vendor_code));
    }
}

void Host::log(const hal_host* host, uint32_t level, const char* text) {
    const Host& self = of(host);
    try {
        self.services_.log.write(std::clamp(level, HAL_LOG_ERROR, HAL_LOG_DEBUG),
                                 fmt::format("{}: {}", self.manifest_.id, limited(text)));
    } catch (...) {  // NOLINT(bugprone-empty-catch): a message that cannot be made is lost, as Log::write says
    }
}

std::optional<std::string_view> Host::option(std::string_view key) const {
    const auto& given = services_.settings.options;
    const auto found = std::find_if(given.rbegin(), given.rend(), [&](const Settings::Option& one) {
        return one.backend == manifest_.id && one.key == key;
    });
    if (found != given.rend()) {
        return found->value;
    }
    if (const auto value = services_.environment.backend_option(manifest_.id, key)) {
        return value;
    }
    const auto described = std::find_if(manifest_.options.begin(), manifest_.options.end(),
                                        [&](const auto& one) { return one.first == key; });
    return described == manifest_.options.end() ? std::nullopt : std::optional<std::string_view>(described->second);
}

hal_status Host::get_option(const hal_host* host, const char* key, char* buffer, uint64_t capacity_bytes,
                            uint64_t* out_size_bytes) {
    try {
        sdk::require(key, "key");
        if (const auto value = of(host).option(key)) {
            return sdk::write_string(*value, buffer, capacity_bytes, out_size_bytes);
        }
        return HAL_ERROR_NOT_FOUND;  // without a text: an option that nobody gave is the usual case
    } catch (...) {
        return translate_exception(of(host).manifest_.id);
    }
}

hal_status Host::add_kernels(const hal_host* host, hal_instance* instance, const hal_kernel* const* kernels,
                             uint64_t count) {
    const Host& self = of(host);
    Opened* opened = self.opened_.load();
    if (opened == nullptr) {
        return loader::set_error(HAL_ERROR_REENTRANT, self.manifest_.id,
                                 "add_kernels was called from inside create or after destroy; list kernels that exist "
                                 "at start with register_kernel");
    }
    if (instance != opened->instance()) {
        return loader::set_error(HAL_ERROR_INVALID_HANDLE, self.manifest_.id,
                                 "add_kernels: the instance is not the one that this host was lent to");
    }
    try {
        if (count > 0) {
            sdk::require(kernels, "kernels");
        }
        for (const hal_kernel* kernel : std::span(kernels, count)) {
            if (const std::string defect = kernel_defect(opened->id(), kernel); !defect.empty()) {
                throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, defect);
            }
        }
        const std::string duplicate = opened->add_kernels({kernels, count});
        return duplicate.empty() ? HAL_OK : loader::set_error(HAL_ERROR_ALREADY_EXISTS, self.manifest_.id, duplicate);
    } catch (...) {
        return translate_exception(self.manifest_.id);
    }
}

// No trace layer is part of this version, so there is nobody to hand the point to.
void Host::trace(const hal_host*, uint32_t, const char*) {}

}  // namespace hal::loader
