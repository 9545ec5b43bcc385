#include "backend.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "benchmark.hpp"

namespace hal::bench {
namespace {

// What the loader says about one candidate.
struct Candidate {
    std::string version;
    std::string library;
    std::string trouble;  // cause and next step
};

Candidate candidate(hal_loader* loader, const std::string& id) {
    uint64_t count = 0;
    check(hal_loader_report_count(loader, &count), "hal_loader_report_count");
    std::string others;
    for (uint64_t i = 0; i < count; ++i) {
        hal_backend_report report{.header = {sizeof report, 0, nullptr}};
        check(hal_loader_report(loader, i, &report), "hal_loader_report");
        if (report.id == id) {
            return {report.version, report.library,
                    fmt::format("{}: {} {}; {}", report.manifest, report.code, report.cause, report.next_step)};
        }
        others += fmt::format("{}{}", others.empty() ? "" : ", ", report.id);
    }
    return {{},
            {},
            fmt::format("found: {}; give --manifest PATH or set HAL_ADD_BACKEND_FILES",
                        others.empty() ? "nothing" : others)};
}

}  // namespace

void check(hal_status status, const char* call) {
    if (status == HAL_OK) {
        return;
    }
    const std::string text = fmt::format("{}: {}: {}", call, hal_status_name(status), hal_last_error());
    if (status == HAL_ERROR_UNSUPPORTED) {
        throw Unavailable(text);
    }
    throw std::runtime_error(text);
}

LoaderHandle open_loader(const std::vector<std::string>& manifests, const std::vector<hal_option>& options) {
    std::vector<const char*> paths;
    paths.reserve(manifests.size());
    for (const auto& manifest : manifests) {
        paths.push_back(manifest.c_str());
    }
    hal_loader_desc desc{.header = {sizeof desc, 0, nullptr}};
    desc.manifest_paths = paths.data();
    desc.manifest_path_count = paths.size();
    desc.options = options.data();
    desc.option_count = options.size();
    hal_loader* loader = nullptr;
    check(hal_loader_open(&desc, &loader), "hal_loader_open");
    return {loader, [](hal_loader* opened) { static_cast<void>(hal_loader_close(opened)); }};
}

namespace {

std::vector<hal_option> options_of(const std::string& id,
                                   const std::vector<std::pair<std::string, std::string>>& options) {
    std::vector<hal_option> list;
    for (const auto& [key, value] : options) {
        list.push_back({id.c_str(), key.c_str(), value.c_str()});
    }
    return list;
}

}  // namespace

Backend::Backend(const std::vector<std::string>& manifests, const std::string& id,
                 const std::vector<std::pair<std::string, std::string>>& options)
    : loader_(open_loader(manifests, options_of(id, options))) {
    const hal_status status = hal_backend_open(loader_.get(), id.c_str(), &backend_);
    Candidate found = candidate(loader_.get(), id);
    if (status != HAL_OK) {
        throw std::runtime_error(
            fmt::format("back end {} cannot be opened: {}: {}", id, hal_status_name(status), found.trouble));
    }
    version_ = std::move(found.version);
    library_ = std::move(found.library);
    hal_device_properties properties{.header = {sizeof properties, 0, nullptr}};
    host_accessible_ = hal_get_device_properties(backend_, device(), &properties) == HAL_OK &&
                       (properties.flags & HAL_DEVICE_HOST_ACCESSIBLE) != 0;
}

Stream::Stream(const Backend& backend) : backend_(backend) {
    check(hal_create_stream(backend.get(), backend.device(), nullptr, &stream_), "create_stream");
}

Stream::~Stream() {
    static_cast<void>(hal_destroy_stream(backend_.get(), backend_.device(), stream_));
}

void Stream::synchronize() const {
    check(hal_synchronize_stream(backend_.get(), backend_.device(), stream_, HAL_NO_TIMEOUT), "synchronize_stream");
}

DeviceMemory::DeviceMemory(const Backend& backend, uint64_t size_bytes) : backend_(backend), size_bytes_(size_bytes) {
    check(hal_device_memory_allocate(backend.get(), backend.device(), size_bytes, &address_), "device_memory_allocate");
}

DeviceMemory::~DeviceMemory() {
    static_cast<void>(hal_device_memory_deallocate(backend_.get(), backend_.device(), address_, size_bytes_));
}

std::string DeviceMemory::pages() const {
    hal_memory_attributes attributes{.header = {sizeof attributes, 0, nullptr}};
    if (hal_get_memory_attributes(backend_.get(), address_, &attributes) != HAL_OK) {
        return "pages unknown";
    }
    return (attributes.flags & HAL_MEMORY_HUGE_PAGES) != 0 ? "huge pages asked for" : "4 KiB pages";
}

}  // namespace hal::bench
