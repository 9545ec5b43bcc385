#include "fake_backend.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace hal::conformance {
namespace {

FakeBehaviour behaviour;

// One device, one stream: a worker that runs what is put into its queue.
class Fake {
  public:
    explicit Fake(const hal_host* host) : host_(host), behaviour_(behaviour), worker_([this] { work(); }) {}
    ~Fake() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        changed_.notify_all();
        worker_.join();
    }

    hal_status fail(hal_status status) const {
        if (!behaviour_.silent_errors) {
            host_->set_error(host_, status, 0, "the fake says so");
        }
        return status;
    }

    void put(std::function<void()> task) {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        ++submitted_;
        changed_.notify_all();
    }

    hal_status sync() {
        if (!behaviour_.sync_returns_early) {
            wait_for(submitted());
        }
        return HAL_OK;
    }

    [[nodiscard]] uint64_t submitted() {
        const std::lock_guard lock(mutex_);
        return submitted_;
    }

    void wait_for(uint64_t target) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return done_ >= target; });
    }

    void copy(hal_dptr to, hal_dptr from, uint64_t size) {
        const auto run = [this, to, from, size] {
            std::this_thread::sleep_for(++copies_ > behaviour_.fast_after ? behaviour_.copy_takes / 10
                                                                          : behaviour_.copy_takes);
            move(to, from, size);
        };
        if (behaviour_.copies == Copies::inside_the_call) {
            run();
        } else if (behaviour_.copies == Copies::on_a_thread) {
            put(run);
        }
    }

    // The time of a copy is made up, so that its middle need not be moved.
    static void move(hal_dptr to, hal_dptr from, uint64_t size) {
        const uint64_t edge = std::min<uint64_t>(size, 4096);
        for (const uint64_t at : {uint64_t{0}, size - edge}) {
            std::memmove(reinterpret_cast<void*>(to + at), reinterpret_cast<const void*>(from + at), edge);
        }
    }

    [[nodiscard]] const FakeBehaviour& how() const { return behaviour_; }

  private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return ended_ || !tasks_.empty(); });
            if (tasks_.empty()) {
                return;
            }
            const auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            lock.lock();
            ++done_;
            changed_.notify_all();
        }
    }

    const hal_host* host_;
    FakeBehaviour behaviour_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    uint64_t submitted_ = 0;
    uint64_t done_ = 0;
    std::atomic<int> copies_{0};
    bool ended_ = false;
    std::thread worker_;
};

Fake& of(hal_instance* self) {
    return *reinterpret_cast<Fake*>(self);
}

hal_status set_device(hal_instance* self, hal_dev device) {
    return device == 0 ? HAL_OK : of(self).fail(HAL_ERROR_INVALID_DEVICE);
}
hal_status get_device_count(hal_instance*, int32_t* out) {
    *out = 1;
    return HAL_OK;
}
hal_status synchronize_device(hal_instance* self, hal_dev, uint64_t) {
    return of(self).sync();
}
hal_status finalize(hal_instance* self) {
    return of(self).how().refuses_finalize ? of(self).fail(HAL_ERROR_BUSY) : HAL_OK;
}
hal_status stream_add_callback(hal_instance* self, hal_dev device, hal_stream stream, hal_stream_callback callback,
                               void* user_data) {
    if (of(self).how().callbacks == Callbacks::on_a_thread) {
        of(self).put([=] { callback(user_data, device, stream, HAL_OK); });
    }
    return HAL_OK;
}

hal_status allocate(hal_instance*, hal_dev, uint64_t size, hal_dptr* out) {
    *out = reinterpret_cast<hal_dptr>(std::malloc(size));  // NOLINT(cppcoreguidelines-no-malloc)
    return *out == 0 ? HAL_ERROR_OUT_OF_DEVICE_MEMORY : HAL_OK;
}
hal_status deallocate(hal_instance*, hal_dev, hal_dptr ptr, uint64_t) {
    std::free(reinterpret_cast<void*>(ptr));  // NOLINT(cppcoreguidelines-no-malloc)
    return HAL_OK;
}
hal_status copy_h2d(hal_instance*, hal_dev, hal_dptr to, const void* from, uint64_t size) {
    std::memcpy(reinterpret_cast<void*>(to), from, size);
    return HAL_OK;
}
hal_status copy_d2h(hal_instance*, hal_dev, void* to, hal_dptr from, uint64_t size) {
    std::memcpy(to, reinterpret_cast<const void*>(from), size);
    return HAL_OK;
}
hal_status async_copy_d2d(hal_instance* self, hal_dev, hal_stream, hal_dptr to, hal_dptr from, uint64_t size) {
    of(self).copy(to, from, size);
    return HAL_OK;
}

// An event is the number of tasks that came before it.
hal_status create_event(hal_instance*, hal_dev, const hal_event_desc*, hal_event* out) {
    *out = reinterpret_cast<hal_event>(new uint64_t{0});
    return HAL_OK;
}
hal_status destroy_event(hal_instance*, hal_dev, hal_event event) {
    delete reinterpret_cast<uint64_t*>(event);
    return HAL_OK;
}
hal_status record_event(hal_instance* self, hal_dev, hal_stream, hal_event event) {
    *reinterpret_cast<uint64_t*>(event) = of(self).submitted();
    return HAL_OK;
}
hal_status synchronize_event(hal_instance* self, hal_dev, hal_event event, uint64_t) {
    of(self).wait_for(*reinterpret_cast<uint64_t*>(event));
    return HAL_OK;
}

hal_device_table make_device_table() {
    hal_device_table table{};
    table.header = {sizeof table, HAL_TABLE_device};
    table.set_device = &set_device;
    table.get_device_count = &get_device_count;
    table.synchronize_device = &synchronize_device;
    table.finalize = &finalize;
    return table;
}

hal_stream_table make_stream_table(Callbacks callbacks) {
    hal_stream_table table{};
    table.header = {sizeof table, HAL_TABLE_stream};
    table.stream_add_callback = callbacks == Callbacks::absent ? nullptr : &stream_add_callback;
    return table;
}

hal_memory_table make_memory_table() {
    hal_memory_table table{};
    table.header = {sizeof table, HAL_TABLE_memory};
    table.device_memory_allocate = &allocate;
    table.device_memory_deallocate = &deallocate;
    table.memory_copy_h2d = &copy_h2d;
    table.memory_copy_d2h = &copy_d2h;
    table.async_memory_copy_d2d = &async_copy_d2d;
    return table;
}

hal_event_table make_event_table() {
    hal_event_table table{};
    table.header = {sizeof table, HAL_TABLE_event};
    table.create_event = &create_event;
    table.destroy_event = &destroy_event;
    table.record_event = &record_event;
    table.synchronize_event = &synchronize_event;
    return table;
}

hal_status create(const hal_host* host, hal_instance** out) {
    *out = reinterpret_cast<hal_instance*>(new Fake(host));
    return HAL_OK;
}
void destroy(hal_instance* self) {
    delete &of(self);
}
const hal_table_header* get_table(hal_instance* self, uint32_t id_major) {
    static const hal_device_table device = make_device_table();
    static const hal_memory_table memory = make_memory_table();
    static const hal_event_table event = make_event_table();
    static const hal_stream_table stream = make_stream_table(Callbacks::on_a_thread);
    static const hal_stream_table no_callbacks = make_stream_table(Callbacks::absent);
    switch (id_major) {
        case HAL_TABLE_device:
            return &device.header;
        case HAL_TABLE_memory:
            return &memory.header;
        case HAL_TABLE_event:
            return &event.header;
        case HAL_TABLE_stream:
            return of(self).how().callbacks == Callbacks::absent ? &no_callbacks.header : &stream.header;
        default:
            return nullptr;
    }
}

const hal_backend_descriptor* entry(const hal_host*) {
    static const hal_backend_descriptor descriptor{
        sizeof(hal_backend_descriptor), HAL_ABI_VERSION, 0, "fake", "test", "1", "", &create, &destroy, &get_table};
    return &descriptor;
}

}  // namespace

void set_behaviour(const FakeBehaviour& wanted) {
    behaviour = wanted;
}

Target fake_target() {
    Target target;
    target.id = "fake";
    target.entry = &entry;
    return target;
}

}  // namespace hal::conformance
