// What stands behind a hal_loader: the scan, the candidates, the devices.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backend.hpp"
#include "devices.hpp"
#include "environment.hpp"
#include "log.hpp"

namespace hal::loader {

// Every function throws sdk::Error or std::bad_alloc; api.cpp turns that into a status.
class Loader {
  public:
    // Scans; opens nothing.
    explicit Loader(Settings settings);

    // Opens what is critical, or everything under HAL_STRICT, and throws if that has a defect.
    void enforce();

    // Destroys the instances in reverse order of opening.
    ~Loader();
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    // FORKED in a child of the process that opened the loader, unless everything that is open works there. Takes no
    // lock before it knows that the child will get it. Call it first in every function of the API.
    void refuse_fork();

    // REENTRANT while this thread is inside the start of a back end of this loader.
    void refuse_reentry(const char* function);

    // Waits for threads that are opening a back end.
    void wait_for_openings();

    void rescan();
    [[nodiscard]] uint64_t report_count();
    [[nodiscard]] hal_backend_report report(uint64_t index);
    [[nodiscard]] uint64_t place_count();
    [[nodiscard]] hal_search_place place(uint64_t index);
    [[nodiscard]] const Environment& environment() const { return environment_; }

    const hal_backend* open(const char* id);

    // The devices in their final order; throws NO_BACKEND, ALL_BACKENDS_FAILED or NO_DEVICE rather than return none.
    std::vector<Device> devices();

  private:
    [[nodiscard]] std::vector<std::string> name_entries() const;
    void merge(Candidate candidate);
    Backend& find(std::string_view id);
    std::vector<Backend*> all();
    std::vector<Device> opened_devices(const std::vector<Backend*>& backends);
    [[noreturn]] void refuse_empty(bool hidden);
    void say_once(uint32_t level, const std::string& text);

    Settings settings_;  // constant once the constructor has run
    const Environment environment_;
    Log log_;
    const Services services_;
    Gate gate_;
    std::vector<std::unique_ptr<Backend>> backends_;  // append only; the vector is under gate_.mutex
    std::list<std::vector<Place>> places_;            // the last is current; earlier ones are borrowed by callers
    std::set<std::string> said_;
    std::atomic<int> pid_;
};

}  // namespace hal::loader
