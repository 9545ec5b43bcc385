// A host for tests of the inside: options from a map, the last error text of each thread, what was logged.
#pragma once

#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "hal/sdk.hpp"

namespace hal::shared::test {

class Host {
  public:
    using Options = std::map<std::string, std::string>;

    explicit Host(Options options = {}) : options_(std::move(options)) {}
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    [[nodiscard]] const hal_host* get() const noexcept { return &head_.host; }
    [[nodiscard]] std::string log() {
        const std::lock_guard lock(log_mutex_);
        return log_;
    }
    static std::string& last_error() {
        thread_local std::string text;
        return text;
    }

  private:
    struct Head {
        hal_host host;
        Host* self;
    };

    static hal_status get_option(const hal_host* host, const char* key, char* buffer, uint64_t capacity,
                                 uint64_t* out_size) {
        const auto& options = reinterpret_cast<const Head*>(host)->self->options_;
        const auto found = options.find(key);
        if (found == options.end()) {
            return HAL_ERROR_NOT_FOUND;
        }
        *out_size = found->second.size() + 1;
        if (capacity < *out_size) {
            return HAL_ERROR_BUFFER_TOO_SMALL;
        }
        std::memcpy(buffer, found->second.c_str(), *out_size);
        return HAL_OK;
    }

    static void log_line(const hal_host* host, uint32_t, const char* text) {
        Host& self = *reinterpret_cast<const Head*>(host)->self;
        const std::lock_guard lock(self.log_mutex_);
        self.log_.append(text).append("\n");
    }

    Head head_{{.size = sizeof(hal_host),
                .abi_version = HAL_ABI_VERSION,
                .set_error = [](const hal_host*, hal_status, int64_t, const char* text) { last_error() = text; },
                .log = log_line,
                .get_option = get_option,
                .add_kernels = [](const hal_host*, hal_instance*, const hal_kernel* const*,
                                  uint64_t) { return HAL_ERROR_UNSUPPORTED; },
                .trace = [](const hal_host*, uint32_t, const char*) {}},
               this};
    Options options_;
    std::mutex log_mutex_;
    std::string log_;
};

// Status of a call that throws sdk::Error, with its text in `text`.
template <class F>
hal_status status_of(F&& f, std::string* text = nullptr) {
    try {
        f();
        return HAL_OK;
    } catch (const sdk::Error& error) {
        if (text != nullptr) {
            *text = error.what();
        }
        return error.status();
    }
}

}  // namespace hal::shared::test
