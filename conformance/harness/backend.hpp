// One instance of the plug-in with its raw slots, and the facts that decide which cases apply to it.
#pragma once

#include <bitset>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "case.hpp"
#include "host.hpp"
#include "target.hpp"

namespace hal::conformance {

class Backend {
  public:
    // Calls the entry, create and get_table as the loader does. Throws LoadError.
    explicit Backend(const Target& target);
    ~Backend();
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;

    [[nodiscard]] const Api& api() const { return api_; }
    [[nodiscard]] const hal_backend_descriptor& descriptor() const { return *descriptor_; }
    [[nodiscard]] hal_instance* instance() const { return instance_; }
    [[nodiscard]] const Host& host() const { return *host_; }

    // Counted like the entries; OK where the plug-in has none.
    [[nodiscard]] hal_status initialize() const;
    [[nodiscard]] hal_status finalize() const;

    // The plug-in's destroy, now instead of in the destructor.
    void destroy();

  private:
    void read_tables();

    std::unique_ptr<Host> host_;
    const hal_backend_descriptor* descriptor_ = nullptr;
    hal_instance* instance_ = nullptr;
    Api api_;
};

// What the plug-in offers, asked once before the first case.
struct Facts {
    std::bitset<entries.size()> present;
    int32_t device_count = 0;
    uint32_t device_flags = 0;  // that every device has
    uint64_t backend_flags = 0;
    std::set<std::string, std::less<>> ops;
    std::set<std::string, std::less<>> behaviour;  // /backend/claims/behaviour of the manifest
    std::set<std::string, std::less<>> claimed;    // /backend/claims/entries, or what the tables hold
    std::set<std::string, std::less<>> routes;     // /backend/claims/routes
    uint32_t memory_mib = 0;                       // free on each device, and at the host
    uint32_t most_ranks = 0;                       // that were seen to find place; 0 if no case asks

    [[nodiscard]] bool has(E entry) const { return present[static_cast<size_t>(entry)]; }
};

// Who the plug-in says it is.
struct Identity {
    struct Device {
        std::string name, type, driver_version, runtime_version, compute_capability;
    };
    std::string name, vendor, version, build, abi_version;
    std::map<std::string, uint32_t> table_bytes;
    std::vector<Device> devices;
};

struct Introduction {
    Facts facts;
    Identity identity;
};

// Throws LoadError when the plug-in cannot even count its devices.
[[nodiscard]] Introduction introduce(const Target& target);

// Why a need is not met, or nothing.
[[nodiscard]] std::optional<std::string> unmet(const Need& need, const Facts& facts);

}  // namespace hal::conformance
