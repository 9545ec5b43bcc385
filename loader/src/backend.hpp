// One candidate on its way to READY: who opens it, who waits, what came of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "candidate.hpp"
#include "host.hpp"
#include "library.hpp"
#include "opened.hpp"

namespace hal::loader {

class Backend;

// The states of all back ends of one loader object. Never held while code of a plug-in or of the application runs.
struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::pair<std::thread::id, const Backend*>> waiting;
    std::vector<Backend*> order;  // of opening

    // Read without the mutex by a forked child, which may find it locked for ever.
    std::atomic<uint32_t> opening{0};
    std::atomic<uint32_t> fork_unsafe{0};
};

class Backend {
  public:
    Backend(const Services& services, Gate& gate, Candidate candidate);
    ~Backend();
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;

    // The instance, opened by this call, by an earlier one or by another thread that this one waited for. Throws
    // sdk::Error with the status of the report (REENTRANT from inside the opening), std::bad_alloc where a later try
    // may succeed.
    Opened& open();

    // Destroys the instance. No thread is inside open().
    void close() noexcept;

    // ---- With the gate's mutex held ----
    [[nodiscard]] hal_backend_state state() const { return state_; }
    [[nodiscard]] const Problem& problem() const { return problem_; }
    [[nodiscard]] int32_t device_count() const { return device_count_; }
    [[nodiscard]] Opened* opened() const { return opened_.get(); }
    [[nodiscard]] const Candidate& candidate() const { return candidate_; }
    [[nodiscard]] bool selected() const { return state_ == HAL_STATE_DISCOVERED || opened_ != nullptr; }
    [[nodiscard]] bool opened_by_this_thread() const;
    [[nodiscard]] hal_backend_report report() const;

    // The library's answer where there is one, else the manifest's.
    [[nodiscard]] const std::string& id() const;
    [[nodiscard]] bool answers_to(std::string_view id) const;

    // A scan found it again: what failed may be tried anew, with what the new scan says.
    void renew(Candidate candidate);

  private:
    [[nodiscard]] bool would_deadlock() const;
    void wait(std::unique_lock<std::mutex>& lock);
    Opened& answer() const;

    // ---- By the opening thread, without the mutex ----
    struct Outcome {
        std::unique_ptr<Opened> opened;
        std::optional<Problem> problem;
        int64_t vendor_code = 0;
        int32_t device_count = -1;
        bool out_of_memory = false;
    };
    Outcome attempt() noexcept;
    void start(Outcome& outcome);
    hal_backend_entry_fn load();
    void compare(const Description& description) const;
    void tell(const Outcome& outcome) const noexcept;
    [[nodiscard]] std::string where() const;

    const Services& services_;
    Gate& gate_;
    Candidate candidate_;
    Host host_;
    std::optional<Image> image_;
    std::unique_ptr<Opened> opened_;
    hal_backend_state state_ = HAL_STATE_DISCOVERED;
    Problem problem_;
    int64_t vendor_code_ = 0;
    int32_t device_count_ = -1;
    std::thread::id opener_;
};

// "backend acme.npu: cause; next step [L033]"
std::string problem_text(std::string_view id, const Problem& problem);

}  // namespace hal::loader
