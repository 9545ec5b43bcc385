// The host table that the plug-in gets: options, and the last error text of each thread.
#pragma once

#include <map>
#include <string>

#include "hal/plugin.h"

namespace hal::conformance {

struct ErrorRecord {
    uint64_t serial = 0;  // errors that the calling thread has seen; tells a new one from an old one
    hal_status status = HAL_OK;
    int64_t vendor_code = 0;
    std::string text;
};

class Host {
  public:
    explicit Host(std::map<std::string, std::string> options);
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    [[nodiscard]] const hal_host* table() const { return &table_.head; }

    // Of the calling thread.
    [[nodiscard]] static const ErrorRecord& last_error();

  private:
    struct Table {
        hal_host head;
        Host* owner;
    };
    static Host& owner(const hal_host* host);
    static void set_error(const hal_host*, hal_status status, int64_t vendor_code, const char* text);
    static void write_log(const hal_host* host, uint32_t level, const char* text);
    static hal_status get_option(const hal_host* host, const char* key, char* buffer, uint64_t capacity_bytes,
                                 uint64_t* out_size_bytes);
    static hal_status add_kernels(const hal_host*, hal_instance*, const hal_kernel* const* kernels, uint64_t count);
    static void trace(const hal_host*, uint32_t phase, const char* name);

    std::map<std::string, std::string> options_;
    Table table_;
};

}  // namespace hal::conformance
