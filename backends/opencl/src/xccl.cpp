// Tables 10 and 110.
#include "xccl.hpp"

#include "copy.hpp"
#include "device.hpp"
#include "entries.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl {

xccl::Arena XcclPort::arena(hal_dev device) {
    return staging(device)->arena();
}

xccl::StagingMemory* XcclPort::staging(hal_dev device) {
    static_cast<void>(instance_.device(device));
    std::call_once(once_, [this] { staging_ = std::make_unique<xccl::StagingMemory>(); });
    return staging_.get();
}

void XcclPort::require_memory(hal_dev device, hal_dptr address, uint64_t bytes, const char* what) {
    static_cast<void>(check_range(instance_.device(device), address, bytes, what));
}

void XcclPort::require_stream(hal_dev device, hal_stream stream) {
    static_cast<void>(find_stream(instance_, device, stream));
}

void XcclPort::enqueue(hal_dev device, hal_stream stream, const xccl::Work& work) {
    Stream& found = find_stream(instance_, device, stream);
    found.require(stream);  // callbacks are taken by a failed stream too
    found.add_callback(stream, [work](hal_status status) { static_cast<void>(work(status)); });
}

namespace {

class QueuedCopy final : public xccl::Copy {
  public:
    // Begins it.
    QueuedCopy(const Device& device, const Queue& queue, const Place& to, const Place& from, uint64_t bytes)
        : api_(device.api()) {
        cl_event event = nullptr;
        check(copy(device, queue.get(), to, from, bytes, false, &event), "copy");
        event_ = Event(api_, event);
        check(api_.clFlush(queue.get()), "clFlush");
    }
    ~QueuedCopy() override { await(); }
    QueuedCopy(const QueuedCopy&) = delete;
    QueuedCopy& operator=(const QueuedCopy&) = delete;
    void wait() override {
        await();
        if (const cl_int status = event_.status(); status < 0) {
            check(status, "copy");
        }
    }

  private:
    void await() const noexcept {
        cl_event event = event_.get();
        static_cast<void>(api_.clWaitForEvents(1, &event));
    }

    const Api& api_;
    Event event_;
};

}  // namespace

bool XcclPort::copies_by_itself(hal_dev device) {
    return instance_.options().xccl_overlap.value_or(instance_.device(device).info().type != CL_DEVICE_TYPE_CPU);
}

std::unique_ptr<xccl::Copy> XcclPort::copy_in(hal_dev device, std::byte* to, hal_dptr from, uint64_t bytes) {
    Device& owner = instance_.device(device);
    const Place place = check_range(owner, from, bytes, "send");
    return std::make_unique<QueuedCopy>(owner, owner.queue_to_host(), Place::host(to), place, bytes);
}

std::unique_ptr<xccl::Copy> XcclPort::copy_out(hal_dev device, hal_dptr to, const std::byte* from, uint64_t bytes) {
    Device& owner = instance_.device(device);
    const Place place = check_range(owner, to, bytes, "recv");
    return std::make_unique<QueuedCopy>(owner, owner.queue_from_host(), place, Place::host(from), bytes);
}

void XcclPort::refuse_on_stream(const char* entry) const {
    instance_.refuse_in_callback(entry);
}

const hal_xccl_table xccl_table = xccl::Entries<Instance, Opened>::table();
const hal_xccl_ext_table xccl_ext_table = xccl::Entries<Instance, Opened>::ext_table();

}  // namespace hal::opencl
