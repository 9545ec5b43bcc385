// What a case works with: the raw entries, checks that count and never stop the body, data, streams, gates. Everything
// that a case makes is released after it, in the order in which that is safe.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backend.hpp"
#include "data.hpp"
#include "gate.hpp"
#include "ranks.hpp"
#include "recorder.hpp"

namespace hal::conformance {

// Device memory of a test between two guards.
struct DeviceBuffer {
    hal_dev dev = 0;
    hal_dptr base = 0;
    hal_dptr ptr = 0;  // behind the first guard
    uint64_t size = 0;
    bool released = false;
};

// One asynchronous operation of the kind that the case's parameter "src" names.
class Work;
// What holds a stream where there are no callbacks (load.hpp).
class Load;

// The text of a value in a finding.
template <class T>
std::string shown(const T& value) {
    if constexpr (std::is_same_v<T, hal_status>) {
        return to_string(value);
    } else if constexpr (std::is_same_v<T, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::is_pointer_v<T>) {
        return value == nullptr ? "NULL" : "a pointer";
    } else {
        std::ostringstream text;
        text << value;
        return text.str();
    }
}

class Test {
    std::unique_ptr<Backend> backend_;  // first: `api` refers into it

  public:
    Test(const Target& target, const Instance& instance, const Facts& facts, uint64_t seed, const Limits& limits,
         Recorder& recorder, const RankLink* link = nullptr);
    ~Test();
    Test(const Test&) = delete;
    Test& operator=(const Test&) = delete;

    // Releases everything and finalizes; part of the verdict.
    void clean_up();

    const Api& api;
    const Limits& limits;
    const Facts& facts;
    const Target& target;
    hal_dev dev = 0;  // of this rank

    // ---- Checks: true if all is well ----
    bool check(bool good, std::string_view what, Where where = Where::here());
    bool ok(hal_status got, std::string_view what = "status", Where where = Where::here());
    template <class Expected, class Got>
    bool eq(const Expected& expected, const Got& got, std::string_view what, Where where = Where::here()) {
        return judge(
            expected == got, what, where, [&] { return shown(expected); }, [&] { return shown(got); });
    }
    template <class Low, class High>
    bool le(const Low& low, const High& high, std::string_view what, Where where = Where::here()) {
        return judge(
            low <= high, what, where, [&] { return "at most " + shown(high); }, [&] { return shown(low); });
    }
    // Says something about quality only, whatever the case's authority.
    bool quality(bool good, std::string_view what, Where where = Where::here());
    // The call returns this error, and has set a text of that status for this thread.
    bool fails(hal_status expected, const std::function<hal_status()>& call, Where where = Where::here());
    // As fails, where the contract leaves a choice of errors.
    bool fails_any(std::initializer_list<hal_status> expected, const std::function<hal_status()>& call,
                   Where where = Where::here());
    // Names a point of a loop in the findings: auto in = t.context("size", n).
    [[nodiscard]] std::shared_ptr<void> context(std::string_view name, uint64_t value);

    // ---- Parameters and data ----
    [[nodiscard]] std::string_view param(std::string_view name) const;
    // The entry that the case's id is about.
    [[nodiscard]] const EntryInfo* entry() const { return entry_of(instance_.origin->id); }
    // The index that the parameter of bad_devices() stands for.
    [[nodiscard]] hal_dev bad_device() const;
    [[nodiscard]] Pattern pattern();  // another one each time; from any thread
    [[nodiscard]] uint64_t random();  // from the case's seed

    // ---- Memory. Host buffers outlive the streams. ----
    [[nodiscard]] HostBuffer& host(uint64_t size);
    [[nodiscard]] HostBuffer& host(const Pattern& pattern, uint64_t size);
    // Poisoned, between guards; ptr is 0 and a check has failed if there is no memory.
    [[nodiscard]] DeviceBuffer& device(uint64_t size, hal_dev on = 0, Where where = Where::here());
    [[nodiscard]] DeviceBuffer& device(const Pattern& pattern, uint64_t size, hal_dev on = 0,
                                       Where where = Where::here());
    void write(const DeviceBuffer& buffer, const Pattern& pattern, Where where = Where::here());
    void release(DeviceBuffer& buffer, Where where = Where::here());
    // One check: every byte and both guards, read by memory_copy_d2h and, where the host can, directly.
    bool expect(const DeviceBuffer& buffer, const Pattern& pattern, std::string_view what, Where where = Where::here());
    bool expect(const DeviceBuffer& buffer, uint8_t value, std::string_view what, Where where = Where::here());
    bool expect(const HostBuffer& buffer, const Pattern& pattern, std::string_view what, Where where = Where::here());
    bool expect(const HostBuffer& buffer, uint8_t value, std::string_view what, Where where = Where::here());

    // ---- Streams and events, destroyed after the case ----
    [[nodiscard]] hal_stream stream(hal_dev on = 0, Where where = Where::here());  // NULL where none can be created
    [[nodiscard]] hal_event event(hal_dev on = 0, uint32_t flags = 0, Where where = Where::here());
    void forget(hal_stream stream);  // the case has destroyed it
    void forget(hal_event event);
    void sync(hal_stream stream, hal_dev on = 0, Where where = Where::here());

    // ---- Ranks of a case over number_of_ranks(). All call the same of these in the same order, on the body's thread
    // ----
    [[nodiscard]] int rank() const { return link_ == nullptr ? 0 : link_->rank; }
    [[nodiscard]] int ranks() const { return link_ == nullptr ? 1 : link_->ranks; }
    [[nodiscard]] std::vector<std::string> exchange(const std::string& bytes);  // what each rank said, by rank
    void rank_barrier() { (void)exchange({}); }
    void stage(std::string_view name) { say_stage(name); }  // is said of a rank that hangs
    [[nodiscard]] bool all_ranks(bool good);                // true if every rank that still runs says so
    // An id that the first of the ranks made and all know; empty, and a check has failed, if there is none.
    [[nodiscard]] std::string unique_id(int maker = 0, Where where = Where::here());
    // Of all ranks, or of those given, in that order. Destroyed after the case. NULL on all of them, and a check has
    // failed, if one could not make it; NULL on the others. A silent peer is given up within the case's limits.
    [[nodiscard]] hal_comm communicator(const std::vector<int>& members = {}, Where where = Where::here());
    [[nodiscard]] hal_comm keep_comm(hal_comm comm);  // made by the case, destroyed after it
    void forget(hal_comm comm);                       // the case has destroyed it
    // The fault of the case itself: this rank's process stands still, or dies, with what it has checked so far.
    void stop_process(std::chrono::milliseconds time);
    void die();

    // ---- Ordering ----
    // Closed when this returns: by a host callback, or by a load of copies where there are no callbacks.
    [[nodiscard]] Gate gate(hal_stream stream, hal_dev on = 0, Where where = Where::here());
    // Runs the call on a thread of its own: it must not return while the gate is closed. Open the gate, then ask the
    // result for the status of the call.
    [[nodiscard]] Helper blocks(const std::function<hal_status()>& call, const Gate& gate, Where where = Where::here());
    // As blocks, for several threads that make the call at once.
    [[nodiscard]] std::deque<Helper> all_block(int count, const std::function<hal_status()>& call, const Gate& gate,
                                               Where where = Where::here());
    // The call must return while the gate is closed. Its status.
    hal_status returns(const std::function<hal_status()>& call, const Gate& gate, Where where = Where::here());
    // The call is refused with this error, with its text, while the gate is closed.
    void refused_behind(const Gate& gate, hal_status expected, const std::function<hal_status()>& call,
                        Where where = Where::here());
    // What was seen until now was seen behind the closed gate. Else the run is inconclusive and nothing may be said.
    [[nodiscard]] bool closed(const Gate& gate);
    // The destination of enqueued work keeps its poison behind the gate. Counts only while the gate is surely closed,
    // and for device memory only where the host can look at it without a call.
    void expect_unwritten(const HostBuffer& buffer, const Gate& gate, Where where = Where::here());
    void expect_unwritten(const DeviceBuffer& buffer, const Gate& gate, Where where = Where::here());
    // Something that a callback or a copy may still touch after a faulty plug-in has returned early: it lives as long
    // as the process.
    template <class T, class... Args>
    [[nodiscard]] T& keep(Args&&... args) {
        auto made = std::make_shared<T>(std::forward<Args>(args)...);
        T& object = *made;
        keep_alive(std::move(made));
        return object;
    }
    // Asks again and again until the answer is no longer NOT_READY, at most for the limit.
    [[nodiscard]] hal_status poll(const std::function<hal_status()>& query) const;
    [[nodiscard]] Work& work(hal_stream stream, hal_dev on = 0);

    // Runs f(0) .. f(count - 1) at once, each on its own thread, and joins them.
    void threads(int count, const std::function<void(int)>& f);

    // Nothing is kept by `count` calls of the body, however often (meters.hpp); one check. The body makes no buffers,
    // streams or events of the test: those are kept until its end.
    bool no_leak(uint64_t count, const std::function<void()>& body, Where where = Where::here());

    // Another, independent instance of the same plug-in, not initialised.
    [[nodiscard]] std::unique_ptr<Backend> another() const { return std::make_unique<Backend>(target); }
    [[nodiscard]] const Backend& backend() const { return *backend_; }
    [[nodiscard]] Recorder& recorder() { return recorder_; }

    // A figure for the report, judged by nobody.
    void metric(std::string name, double value, std::string unit);
    [[nodiscard]] const std::vector<Metric>& metrics() const { return metrics_; }

  private:
    friend class Work;
    friend class Load;
    template <class Expected, class Got>
    bool judge(bool good, std::string_view what, Where where, Expected expected, Got got,
               enum authority at_most = authority::S) {
        if (good) {
            recorder_.passed();
        } else {
            fail(what, where, expected(), got(), at_most);
        }
        return good;
    }
    // `at_most` weakens the authority of the case: what only our contract asks for never breaks the standard.
    void fail(std::string_view what, Where where, std::string expected, std::string got,
              enum authority at_most = authority::S);
    // For what a case only needs: a failure counts, a success does not, so that set-up alone never makes a pass.
    bool set_up(hal_status got, std::string_view what, Where where);
    template <class Expected>
    bool expect_device(const DeviceBuffer& buffer, const Expected& expected, std::string_view what, Where where);
    template <class Expected>
    bool expect_host(const HostBuffer& buffer, const Expected& expected, std::string_view what, Where where);
    void unwritten(const void* bytes, uint64_t size, const Gate& gate, std::chrono::milliseconds look, Where where);
    static void keep_alive(std::shared_ptr<void> object);
    void drain();
    void confirm_loads();
    void destroy_objects();
    void destroy_comms();

    Recorder& recorder_;
    const Instance& instance_;
    const RankLink* link_;
    uint64_t seed_;
    std::atomic<uint64_t> next_buffer_{0};
    std::atomic<uint64_t> next_random_{0};
    bool clean_ = false;
    std::vector<Metric> metrics_;
    std::vector<std::string> context_;

    std::deque<HostBuffer> host_buffers_;
    std::deque<DeviceBuffer> device_buffers_;
    std::vector<std::pair<hal_dev, hal_stream>> streams_;
    std::vector<std::pair<hal_dev, hal_event>> events_;
    std::vector<hal_comm> comms_;
    int words_ = 0;  // that this rank has said
    std::vector<Gate> gates_;
    std::map<hal_dev, std::unique_ptr<Load>> loads_;
    std::vector<std::unique_ptr<Work>> works_;
};

class Work {
  public:
    Work(Test& test, std::string_view source, hal_stream stream, hal_dev dev);
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    [[nodiscard]] hal_stream stream() const { return stream_; }
    void enqueue(Where where = Where::here());
    // The result is there and right, looked at without any further synchronisation where the host can see it.
    void expect_done(Where where = Where::here());
    // Nothing of the result is there yet; counts only while the last gate is surely closed, and where the host can look
    // without a call.
    void expect_not_begun(Where where = Where::here());

  private:
    struct Counter;
    static void count(void* user_data, hal_dev, hal_stream, hal_status);

    Test& test_;
    std::string source_;
    hal_stream stream_;
    hal_dev dev_;
    Pattern pattern_;
    uint64_t size_;
    HostBuffer* host_ = nullptr;
    DeviceBuffer* from_ = nullptr;
    DeviceBuffer* to_ = nullptr;
    Counter* counter_ = nullptr;
};

}  // namespace hal::conformance
