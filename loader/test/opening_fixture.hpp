// A loader with a healthy back end and, beside it, one that the test makes fail. Only the C API is used.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define HAL_NO_INLINE
#include "hal/hal.h"
#include "plugin/plugin.hpp"
#include "scratch.hpp"

namespace hal::loader::test {

inline std::string plugin_path(const std::string& name) {
    return std::string(HAL_TEST_PLUGINS) + "/libloader_test_" + name + ".so";
}

// Describes and owns one loader object.
class Setup {
  public:
    // Fault and further options of test.faulty; the library may be another than the faulty plug-in.
    explicit Setup(const std::string& fault = "", std::map<std::string, std::string> options = {},
                   const std::string& library = plugin_path("faulty"))
        : options_(std::move(options)) {
        options_["fault"] = fault;
        dir_.write("10-faulty.json", manifest_text("test.faulty", library));
        dir_.write("20-healthy.json", manifest_text("test.healthy", plugin_path("healthy")));
    }
    ~Setup() { static_cast<void>(hal_loader_close(loader)); }
    Setup(const Setup&) = delete;
    Setup& operator=(const Setup&) = delete;

    Setup& flags(uint32_t more) {
        flags_ |= more;
        return *this;
    }
    Setup& hook(Hook function) {
        options_["hook"] = std::to_string(reinterpret_cast<uintptr_t>(function));
        return *this;
    }
    [[nodiscard]] const Scratch& dir() const { return dir_; }

    hal_status try_open() {
        const std::string path = dir_.path();
        const char* paths[] = {path.c_str()};
        std::vector<hal_option> options;
        for (const auto& [key, value] : options_) {
            options.push_back({"test.faulty", key.c_str(), value.c_str()});
        }
        const hal_loader_desc desc{
            .header = {sizeof desc, 0, nullptr},
            .manifest_paths = paths,
            .manifest_path_count = 1,
            .options = options.data(),
            .option_count = options.size(),
            .log = [](void* self, uint32_t level, const char* text) { static_cast<Setup*>(self)->keep(level, text); },
            .log_user_data = this,
            .flags = flags_};
        return hal_loader_open(&desc, &loader);
    }
    Setup& open() {
        REQUIRE(try_open() == HAL_OK);
        return *this;
    }

    // nullptr on failure; the status is in `status`.
    const hal_backend* backend(const char* id) {
        const hal_backend* found = nullptr;
        status = hal_backend_open(loader, id, &found);
        return status == HAL_OK ? found : nullptr;
    }
    const hal_backend* faulty() { return backend("test.faulty"); }

    hal_backend_report report(const char* id) {
        uint64_t count = 0;
        REQUIRE(hal_loader_report_count(loader, &count) == HAL_OK);
        for (uint64_t i = 0; i < count; ++i) {
            hal_backend_report report{.header = {sizeof report, 0, nullptr}};
            REQUIRE(hal_loader_report(loader, i, &report) == HAL_OK);
            if (report.id == std::string_view(id)) {
                return report;
            }
        }
        FAIL("no report of " << id);
        return {};
    }

    // The promise of every row of every table of faults.
    void check_healthy() {
        const hal_backend* healthy = backend("test.healthy");
        REQUIRE(healthy != nullptr);
        hal_dptr ptr = 0;
        REQUIRE(hal_device_memory_allocate(healthy, 0, 64, &ptr) == HAL_OK);
        const char in[] = "healthy";
        char out[sizeof in] = {};
        CHECK(hal_memory_copy_h2d(healthy, 0, ptr, in, sizeof in) == HAL_OK);
        CHECK(hal_memory_copy_d2h(healthy, 0, out, ptr, sizeof in) == HAL_OK);
        CHECK(std::strcmp(in, out) == 0);
        CHECK(hal_device_memory_deallocate(healthy, 0, ptr, 64) == HAL_OK);
    }

    [[nodiscard]] std::string log() {
        const std::lock_guard lock(mutex_);
        std::string text;
        for (const Line& line : lines_) {
            text += std::to_string(line.level) + " " + line.text + "\n";
        }
        return text;
    }

    hal_loader* loader = nullptr;
    hal_status status = HAL_OK;

  private:
    void keep(uint32_t level, const char* text) {
        const std::lock_guard lock(mutex_);
        lines_.push_back({level, text});
    }

    Scratch dir_;
    std::map<std::string, std::string> options_;
    uint32_t flags_ = HAL_LOADER_NO_ENVIRONMENT;
    std::mutex mutex_;
    std::vector<Line> lines_;
};

inline bool says(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace hal::loader::test
