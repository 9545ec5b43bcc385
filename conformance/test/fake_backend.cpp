#include "fake_backend.hpp"

#include <condition_variable>
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
        std::unique_lock lock(mutex_);
        const uint64_t target = submitted_;
        if (!behaviour_.sync_returns_early) {
            changed_.wait(lock, [&] { return done_ >= target; });
        }
        return HAL_OK;
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

hal_device_table make_device_table() {
    hal_device_table table{};
    table.header = {sizeof table, HAL_TABLE_device};
    table.set_device = &set_device;
    table.get_device_count = &get_device_count;
    table.synchronize_device = &synchronize_device;
    table.finalize = &finalize;
    return table;
}

hal_stream_table make_stream_table() {
    hal_stream_table table{};
    table.header = {sizeof table, HAL_TABLE_stream};
    table.stream_add_callback = &stream_add_callback;
    return table;
}

hal_status create(const hal_host* host, hal_instance** out) {
    *out = reinterpret_cast<hal_instance*>(new Fake(host));
    return HAL_OK;
}
void destroy(hal_instance* self) {
    delete &of(self);
}
const hal_table_header* get_table(hal_instance*, uint32_t id_major) {
    static const hal_device_table device = make_device_table();
    static const hal_stream_table stream = make_stream_table();
    return id_major == HAL_TABLE_device ? &device.header : id_major == HAL_TABLE_stream ? &stream.header : nullptr;
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
