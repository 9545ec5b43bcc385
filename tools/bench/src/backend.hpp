// The back end under test, opened through the loader, with its objects as owners.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hal/hal.h"

namespace hal::bench {

// Throws std::runtime_error with what was called, the status and the loader's text; Unavailable for UNSUPPORTED.
void check(hal_status status, const char* call);

using LoaderHandle = std::unique_ptr<hal_loader, void (*)(hal_loader*)>;

// A loader that sees these manifests (files or directories), or with none what its own search finds.
[[nodiscard]] LoaderHandle open_loader(const std::vector<std::string>& manifests,
                                       const std::vector<hal_option>& options = {});

class Backend {
  public:
    // Opens it, with options of it. Throws with the reason and what to do next if it cannot be used.
    Backend(const std::vector<std::string>& manifests, const std::string& id,
            const std::vector<std::pair<std::string, std::string>>& options = {});

    [[nodiscard]] const hal_backend* get() const { return backend_; }
    [[nodiscard]] const std::string& version() const { return version_; }
    [[nodiscard]] const std::string& library() const { return library_; }  // resolved path
    [[nodiscard]] hal_dev device() const { return 0; }

    // Kernels and the host may follow a hal_dptr of this back end as a pointer.
    [[nodiscard]] bool host_accessible() const { return host_accessible_; }

  private:
    LoaderHandle loader_;
    const hal_backend* backend_ = nullptr;
    std::string version_;
    std::string library_;
    bool host_accessible_ = false;
};

// A stream of the first device; drained and destroyed with the object.
class Stream {
  public:
    explicit Stream(const Backend& backend);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    [[nodiscard]] hal_stream get() const { return stream_; }
    void synchronize() const;

  private:
    const Backend& backend_;
    hal_stream stream_ = nullptr;
};

// Device memory of the first device.
class DeviceMemory {
  public:
    DeviceMemory(const Backend& backend, uint64_t size_bytes);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    [[nodiscard]] hal_dptr get() const { return address_; }
    [[nodiscard]] std::string pages() const;  // "huge pages asked for", "4 KiB pages" or "pages unknown"

  private:
    const Backend& backend_;
    uint64_t size_bytes_;
    hal_dptr address_ = 0;
};

}  // namespace hal::bench
