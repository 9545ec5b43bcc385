#include "load.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace hal::conformance {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds chain_time{120};
constexpr milliseconds probe_time{20};  // long enough that the cost of a wait does not count
constexpr int closed_share = 3;         // the chain is called running for one part in three of its time
constexpr uint64_t first_size = 4U << 20U;
constexpr uint64_t largest_size = 512U << 20U;
constexpr uint64_t smallest_size = 64U << 10U;
// Many runtimes queue about a thousand operations before an enqueue waits: rather larger copies than more.
constexpr uint64_t first_copies = 8;
constexpr uint64_t probe_copies = 64;
constexpr uint64_t most_copies = 16'384;
constexpr uint64_t sample_bytes = 4096;

}  // namespace

struct Load::Measures {
    std::mutex mutex;
    std::map<std::pair<std::string, hal_dev>, Measure> of;

    static Measures& all() {
        static Measures one;
        return one;
    }
};

void Load::forget_measures() {
    const std::lock_guard lock(Measures::all().mutex);
    Measures::all().of.clear();
}

Load::Load(Test& test, hal_dev dev, Where where)
    : test_(test),
      dev_(dev),
      where_(where),
      within_device_(static_cast<bool>(test.api.async_memory_copy_d2d)),
      pattern_(test.pattern()) {
    stream_ = test.stream(dev, where);
    const Api& api = test.api;
    if (api.create_event && api.destroy_event && api.record_event && api.synchronize_event) {
        event_ = test.event(dev, 0, where);
    }
    Measures& measures = Measures::all();
    const std::lock_guard lock(measures.mutex);
    const auto known = measures.of.find({test.target.id, dev});
    if (known != measures.of.end()) {
        if (resize(known->second.size)) {
            measured_ = known->second;
        } else {
            test.recorder().inconclusive("no memory for the load of a gate");
        }
        return;
    }
    measure();
    if (measured_) {
        measures.of[{test.target.id, dev}] = *measured_;
    }
}

Load::~Load() {
    release_host();
}

// ---- Memory ----

DeviceBuffer* Load::allocate(uint64_t size) {
    hal_dptr base = 0;
    if (test_.api.device_memory_allocate(dev_, size, &base) != HAL_OK) {
        return nullptr;
    }
    return &test_.device_buffers_.emplace_back(DeviceBuffer{dev_, base, base, size, false});
}

// False, and the old memory is still there, if there is not so much.
bool Load::resize(uint64_t size) {
    DeviceBuffer* to = allocate(size);
    DeviceBuffer* from = within_device_ ? allocate(size) : nullptr;
    if (to == nullptr || (within_device_ && from == nullptr)) {
        if (to != nullptr) {
            test_.release(*to, where_);
        }
        return false;
    }
    for (DeviceBuffer* old : {from_, to_}) {
        if (old != nullptr) {
            test_.release(*old, where_);
        }
    }
    from_ = from;
    to_ = to;
    if (!within_device_) {
        release_host();
        const Api& api = test_.api;
        pinned_ = api.host_memory_allocate && api.host_memory_deallocate &&
                  api.host_memory_allocate(dev_, size, &host_) == HAL_OK;
        host_ = pinned_ ? host_ : std::malloc(size);  // NOLINT(cppcoreguidelines-no-malloc)
        if (host_ == nullptr) {
            return false;
        }
    }
    size_ = size;
    write_samples();
    return true;
}

void Load::release_host() {
    if (pinned_) {
        test_.set_up(test_.api.host_memory_deallocate(dev_, host_, 0), "host_memory_deallocate of a gate", where_);
    } else {
        std::free(host_);  // NOLINT(cppcoreguidelines-no-malloc)
    }
    host_ = nullptr;
    pinned_ = false;
}

bool Load::allocate_first() {
    for (uint64_t size = first_size; size >= smallest_size; size /= 2) {
        if (resize(size)) {
            return true;
        }
    }
    return false;
}

// ---- Copies ----

void Load::write_samples() {
    for (const uint64_t at : {uint64_t{0}, size_ - sample_bytes}) {
        if (within_device_) {
            const HostBuffer& sample = test_.host(pattern_, sample_bytes);
            test_.set_up(test_.api.memory_copy_h2d(dev_, from_->ptr + at, sample.data(), sample_bytes),
                         "memory_copy_h2d for a gate", where_);
        } else {
            pattern_.write(static_cast<uint8_t*>(host_) + at, sample_bytes);
        }
    }
}

// Only that no plug-in gets away with a load that does nothing.
void Load::check_data() {
    HostBuffer& back = test_.host(sample_bytes);
    for (const uint64_t at : {uint64_t{0}, size_ - sample_bytes}) {
        back.repoison();
        test_.set_up(test_.api.memory_copy_d2h(dev_, back.data(), to_->ptr + at, sample_bytes),
                     "memory_copy_d2h for a gate", where_);
        if (const auto difference = compare(back.data(), pattern_, sample_bytes); difference && !failed_) {
            failed_ = true;
            test_.fail("data of asynchronous copies after every kind of wait", where_, "all there",
                       to_string(*difference));
        }
    }
}

hal_status Load::enqueue(hal_stream stream) {
    return within_device_ ? test_.api.async_memory_copy_d2d(dev_, stream, to_->ptr, from_->ptr, size_)
                          : test_.api.async_memory_copy_h2d(dev_, stream, to_->ptr, host_, size_);
}

// In every way that there is, so that the measure does not rest on the one that a case accuses.
bool Load::wait() {
    const Api& api = test_.api;
    const auto limit_ns = static_cast<uint64_t>(std::chrono::nanoseconds(test_.limits.finish).count());
    bool good = true;
    if (event_ != nullptr) {
        good = test_.set_up(api.record_event(dev_, stream_, event_), "record_event for a gate", where_) &&
               test_.set_up(api.synchronize_event(dev_, event_, limit_ns), "synchronize_event for a gate", where_);
    }
    if (api.synchronize_stream) {
        good = test_.set_up(api.synchronize_stream(dev_, stream_, limit_ns), "synchronize_stream for a gate", where_) &&
               good;
    }
    if (api.synchronize_device) {
        good = test_.set_up(api.synchronize_device(dev_, limit_ns), "synchronize_device for a gate", where_) && good;
    }
    return good;
}

Load::Time Load::run(uint64_t copies) {
    const auto begin = Gate::Clock::now();
    for (uint64_t i = 0; i < copies; ++i) {
        failed_ = failed_ || !test_.set_up(enqueue(stream_), "an asynchronous copy for a gate", where_);
    }
    const auto enqueued = Gate::Clock::now() - begin;
    failed_ = !wait() || failed_;
    return {enqueued, Gate::Clock::now() - begin};
}

// ---- Measures ----

Load::Time Load::fastest_of_four(uint64_t copies) {
    Time fastest = run(copies);
    for (int i = 1; i < 4; ++i) {
        const Time next = run(copies);
        fastest = next.done < fastest.done ? next : fastest;
    }
    return fastest;
}

// So many copies that they take the probe's time; 0 if no number does.
uint64_t Load::probe() {
    uint64_t copies = first_copies;
    while (!failed_ && run(copies).done < probe_time) {
        if (copies >= probe_copies && 4 * size_ <= largest_size && resize(4 * size_)) {
            copies = first_copies;
        } else if (copies < most_copies) {
            copies *= 2;
        } else {
            return 0;
        }
    }
    return failed_ ? 0 : copies;
}

void Load::measure() {
    if (!allocate_first()) {
        test_.recorder().inconclusive("no memory for the load of a gate");
        return;
    }
    (void)run(first_copies);  // the first copies of a process may pay for more than themselves
    const uint64_t copies = probe();
    const Time fastest = copies == 0 ? Time{} : fastest_of_four(copies);
    check_data();
    if (failed_) {
        return;
    }
    if (copies == 0) {
        test_.recorder().inconclusive("copies of " + std::to_string(size_) +
                                      " bytes take no time that can be measured");
        return;
    }
    if (2 * fastest.enqueued > fastest.done) {
        test_.recorder().inconclusive(
            "asynchronous copies run inside their calls, so that they hold no stream: the manifest may claim "
            "inline_copies");
        return;
    }
    const auto count = static_cast<uint64_t>(chain_time * copies / fastest.done) + 1;
    measured_ = {size_, count, fastest.done * count / copies};
}

Gate Load::close(hal_stream stream, Where where) {
    if (failed_) {
        return Gate::broken();
    }
    const auto begin = Gate::Clock::now();
    if (!measured_) {
        return Gate::of_load(begin);
    }
    for (uint64_t i = 0; i < measured_->count; ++i) {
        if (!test_.set_up(enqueue(stream), "an asynchronous copy for a gate", where)) {
            return Gate::broken();
        }
    }
    return Gate::of_load(begin + measured_->takes / closed_share);
}

bool Load::confirm() {
    if (failed_ || !measured_) {
        return true;
    }
    const uint64_t copies = std::max<uint64_t>(
        1, measured_->count * static_cast<uint64_t>(probe_time.count()) / static_cast<uint64_t>(chain_time.count()));
    const auto takes = fastest_of_four(copies).done * measured_->count / copies;
    if (2 * takes >= measured_->takes) {
        return true;
    }
    measured_->takes = takes;
    const std::lock_guard lock(Measures::all().mutex);
    Measures::all().of.erase({test_.target.id, dev_});
    return false;
}

}  // namespace hal::conformance
