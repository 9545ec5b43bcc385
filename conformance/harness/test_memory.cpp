// Buffers and work of a test.
#include <atomic>

#include "test.hpp"

namespace hal::conformance {

HostBuffer& Test::host(uint64_t size) {
    return host_buffers_.emplace_back(size);
}

HostBuffer& Test::host(const Pattern& pattern, uint64_t size) {
    HostBuffer& buffer = host(size);
    buffer.write(pattern);
    return buffer;
}

DeviceBuffer& Test::device(uint64_t size, hal_dev on, Where where) {
    DeviceBuffer& buffer = device_buffers_.emplace_back();
    buffer.dev = on;
    buffer.size = size;
    buffer.released = true;
    hal_dptr base = 0;
    if (!set_up(api.device_memory_allocate(on, size + 2 * guard_bytes, &base), "device_memory_allocate for the case",
                where)) {
        return buffer;
    }
    buffer.base = base;
    buffer.ptr = base + guard_bytes;
    buffer.released = false;
    // With its guards a host buffer is what the device memory is to hold.
    const HostBuffer image(size);
    set_up(api.memory_copy_h2d(on, base, image.data() - guard_bytes, size + 2 * guard_bytes), "poison for the case",
           where);
    return buffer;
}

DeviceBuffer& Test::device(const Pattern& pattern, uint64_t size, hal_dev on, Where where) {
    DeviceBuffer& buffer = device(size, on, where);
    write(buffer, pattern, where);
    return buffer;
}

void Test::write(const DeviceBuffer& buffer, const Pattern& pattern, Where where) {
    const HostBuffer& source = host(pattern, buffer.size);
    set_up(api.memory_copy_h2d(buffer.dev, buffer.ptr, source.data(), buffer.size), "memory_copy_h2d for the case",
           where);
}

void Test::release(DeviceBuffer& buffer, Where where) {
    if (!buffer.released) {
        buffer.released = true;
        set_up(api.device_memory_deallocate(buffer.dev, buffer.base, 0), "device_memory_deallocate of the case", where);
    }
}

template <class Expected>
bool Test::expect_device(const DeviceBuffer& buffer, const Expected& expected, std::string_view what, Where where) {
    const HostBuffer image(buffer.size);
    const uint64_t whole = buffer.size + 2 * guard_bytes;
    if (!set_up(api.memory_copy_d2h(buffer.dev, image.data() - guard_bytes, buffer.base, whole), "reading back",
                where)) {
        return false;
    }
    auto difference = compare(image.data(), expected, buffer.size);
    if (!difference && (facts.device_flags & HAL_DEVICE_HOST_ACCESSIBLE) != 0) {
        difference = compare(reinterpret_cast<const void*>(buffer.ptr), expected, buffer.size);
    }
    const bool intact = image.guards_intact();
    return judge(
        !difference && intact, what, where,
        [&] { return difference ? "byte " + std::to_string(difference->expected) : "untouched bytes around it"; },
        [&] { return difference ? to_string(*difference) : std::string("overwritten"); });
}

template <class Expected>
bool Test::expect_host(const HostBuffer& buffer, const Expected& expected, std::string_view what, Where where) {
    const auto difference = compare(buffer.data(), expected, buffer.size());
    const bool intact = buffer.guards_intact();
    return judge(
        !difference && intact, what, where,
        [&] { return difference ? "byte " + std::to_string(difference->expected) : "untouched bytes around it"; },
        [&] { return difference ? to_string(*difference) : std::string("overwritten"); });
}

bool Test::expect(const DeviceBuffer& buffer, const Pattern& pattern, std::string_view what, Where where) {
    return expect_device(buffer, pattern, what, where);
}
bool Test::expect(const DeviceBuffer& buffer, uint8_t value, std::string_view what, Where where) {
    return expect_device(buffer, value, what, where);
}
bool Test::expect(const HostBuffer& buffer, const Pattern& pattern, std::string_view what, Where where) {
    return expect_host(buffer, pattern, what, where);
}
bool Test::expect(const HostBuffer& buffer, uint8_t value, std::string_view what, Where where) {
    return expect_host(buffer, value, what, where);
}

// ---- Work ----

namespace {
constexpr uint64_t work_size = 4099;
constexpr uint8_t fill_value = 0x3D;
}  // namespace

struct Work::Counter {
    std::atomic<int> calls{0};
};

void Work::count(void* user_data, hal_dev, hal_stream, hal_status) {
    static_cast<Counter*>(user_data)->calls.fetch_add(1);
}

Work& Test::work(hal_stream stream, hal_dev on) {
    std::string_view source = param("src");
    if (source.empty()) {
        for (const Value& value : work_sources().values) {
            bool offered = true;
            for (const Need& need : value.needs) {
                offered = offered && !unmet(need, facts);
            }
            if (offered) {
                source = value.text;
                break;
            }
        }
    }
    return *works_.emplace_back(std::make_unique<Work>(*this, source, stream, on));
}

Work::Work(Test& test, std::string_view source, hal_stream stream, hal_dev dev)
    : test_(test), source_(source), stream_(stream), dev_(dev), pattern_(test.pattern()), size_(work_size) {
    if (source == "h2d") {
        host_ = &test.host(pattern_, size_);
        to_ = &test.device(size_, dev);
    } else if (source == "d2h") {
        from_ = &test.device(pattern_, size_, dev);
        host_ = &test.host(size_);
    } else if (source == "d2d") {
        from_ = &test.device(pattern_, size_, dev);
        to_ = &test.device(size_, dev);
    } else if (source == "fill") {
        to_ = &test.device(size_, dev);
    } else if (source == "callback") {
        counter_ = &test.keep<Counter>();
    } else {
        throw HarnessError("no source of work: add any_work or work_sources() to the case");
    }
}

void Work::enqueue(Where where) {
    const Api& api = test_.api;
    hal_status status = HAL_OK;
    if (source_ == "h2d") {
        status = api.async_memory_copy_h2d(dev_, stream_, to_->ptr, host_->data(), size_);
    } else if (source_ == "d2h") {
        status = api.async_memory_copy_d2h(dev_, stream_, host_->data(), from_->ptr, size_);
    } else if (source_ == "d2d") {
        status = api.async_memory_copy_d2d(dev_, stream_, to_->ptr, from_->ptr, size_);
    } else if (source_ == "fill") {
        status = api.async_memory_set(dev_, stream_, to_->ptr, fill_value, size_);
    } else {
        status = api.stream_add_callback(dev_, stream_, &Work::count, counter_);
    }
    test_.set_up(status, "enqueue of " + source_, where);
}

void Work::expect_done(Where where) {
    if (counter_) {
        test_.eq(1, counter_->calls.load(), "calls of the callback", where);
    } else if (source_ == "d2h") {
        test_.expect(*host_, pattern_, "result of the d2h", where);
    } else if (source_ == "fill") {
        test_.expect(*to_, fill_value, "result of the fill", where);
    } else {
        test_.expect(*to_, pattern_, "result of the copy", where);
    }
}

void Work::expect_not_begun(Where where) {
    if (test_.gates_.empty()) {
        throw HarnessError("expect_not_begun without a gate");
    }
    const Gate& gate = test_.gates_.back();
    if (counter_) {
        const int calls = counter_->calls.load();
        if (gate.surely_closed()) {
            test_.eq(0, calls, "calls of the callback before its turn", where);
        }
        return;
    }
    // Without a look of its own: a call that waits has been watched before.
    constexpr std::chrono::milliseconds no_look{0};
    if (source_ == "d2h") {
        test_.unwritten(host_->data(), host_->size(), gate, no_look, where);
    } else if ((test_.facts.device_flags & HAL_DEVICE_HOST_ACCESSIBLE) != 0) {
        test_.unwritten(reinterpret_cast<const void*>(to_->ptr), to_->size, gate, no_look, where);
    }
}

}  // namespace hal::conformance
