#include "host.hpp"

#include <cstring>

namespace hal::conformance {
namespace {

ErrorRecord& thread_error() {
    thread_local ErrorRecord record;
    return record;
}

}  // namespace

Host::Host(std::map<std::string, std::string> options) : options_(std::move(options)), table_{} {
    table_.owner = this;
    hal_host& head = table_.head;
    head.size = sizeof(hal_host);
    head.abi_version = HAL_ABI_VERSION;
    head.set_error = &Host::set_error;
    head.log = &Host::write_log;
    head.get_option = &Host::get_option;
    head.add_kernels = &Host::add_kernels;
    head.trace = &Host::trace;
}

const ErrorRecord& Host::last_error() {
    return thread_error();
}

Host& Host::owner(const hal_host* host) {
    return *reinterpret_cast<const Table*>(host)->owner;
}

void Host::set_error(const hal_host*, hal_status status, int64_t vendor_code, const char* text) {
    ErrorRecord& record = thread_error();
    ++record.serial;
    record.status = status;
    record.vendor_code = vendor_code;
    try {
        record.text = text == nullptr ? "" : text;
    } catch (const std::bad_alloc&) {  // no exception goes through the plug-in
        record.text = "no memory";     // short enough to need none
    }
}

// Kept nowhere: it would look like memory that the plug-in takes with each call.
void Host::write_log(const hal_host*, uint32_t, const char*) {}

hal_status Host::get_option(const hal_host* host, const char* key, char* buffer, uint64_t capacity_bytes,
                            uint64_t* out_size_bytes) {
    if (key == nullptr || out_size_bytes == nullptr) {
        return HAL_ERROR_INVALID_ARGUMENT;
    }
    const Host& self = owner(host);
    const auto found = self.options_.find(key);
    if (found == self.options_.end()) {
        return HAL_ERROR_NOT_FOUND;
    }
    const uint64_t needed = found->second.size() + 1;
    *out_size_bytes = needed;
    if (capacity_bytes < needed) {
        return HAL_ERROR_BUFFER_TOO_SMALL;
    }
    if (buffer == nullptr) {
        return HAL_ERROR_INVALID_ARGUMENT;
    }
    std::memcpy(buffer, found->second.c_str(), needed);
    return HAL_OK;
}

// Look-up is the loader's; the suite has no use for late kernels.
hal_status Host::add_kernels(const hal_host*, hal_instance*, const hal_kernel* const* kernels, uint64_t count) {
    return kernels == nullptr && count != 0 ? HAL_ERROR_INVALID_ARGUMENT : HAL_OK;
}

void Host::trace(const hal_host*, uint32_t, const char*) {}

}  // namespace hal::conformance
