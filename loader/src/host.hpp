// What the loader lends to one plug-in (hal_host).
#pragma once

#include <atomic>
#include <string>

#include "candidate.hpp"

namespace hal::loader {

class Opened;

// Of one loader object; outlives its back ends.
struct Services {
    const Settings& settings;
    const Environment& environment;
    Log& log;
};

class Host : private hal_host {
  public:
    // `manifest` is borrowed for the life of the host.
    Host(const Services& services, const Manifest& manifest);
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    [[nodiscard]] const hal_host& api() const { return *this; }

    // Late kernels are taken from now on; nullptr ends it.
    void admit_kernels(Opened* opened) { opened_.store(opened); }

  private:
    static const Host& of(const hal_host* host) { return *static_cast<const Host*>(host); }
    static void set_error(const hal_host*, hal_status, int64_t vendor_code, const char* text);
    static void log(const hal_host*, uint32_t level, const char* text);
    static hal_status get_option(const hal_host*, const char* key, char* buffer, uint64_t capacity_bytes,
                                 uint64_t* out_size_bytes);
    static hal_status add_kernels(const hal_host*, hal_instance*, const hal_kernel* const* kernels, uint64_t count);
    static void trace(const hal_host*, uint32_t phase, const char* name);

    // Nothing if nobody gave it.
    [[nodiscard]] std::optional<std::string_view> option(std::string_view key) const;

    const Services& services_;
    const Manifest& manifest_;
    std::atomic<Opened*> opened_{nullptr};
};

}  // namespace hal::loader
