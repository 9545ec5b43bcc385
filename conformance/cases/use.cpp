#include "use.hpp"

#include "harness/environment.hpp"

namespace hal::conformance {
namespace {

constexpr int threads = 8;
constexpr int rounds = 200;
constexpr uint64_t leak_calls = 400;

}  // namespace

hal_dev current_device(Test& t) {
    hal_dev got = INT32_MIN;
    t.ok(t.api.get_device(&got));
    return got;
}

void check_threads8(Test& t, UseBody use) {
    t.threads(threads, [&](int thread) {
        for (int i = 0; i < rounds; ++i) {
            use(t, thread % t.facts.device_count);
        }
    });
}

void check_foreign_thread(Test& t, UseBody use) {
    t.threads(1, [&](int) { use(t, t.facts.device_count - 1); });
}

void check_explicit_device(Test& t, UseBody use) {
    for (hal_dev current = 0; current < t.facts.device_count; ++current) {
        t.ok(t.api.set_device(current));
        for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
            const auto in = t.context("device", static_cast<uint64_t>(dev));
            use(t, dev);
        }
    }
}

void check_current_device_kept(Test& t, UseBody use) {
    for (const hal_dev current : {0, t.facts.device_count - 1}) {
        t.ok(t.api.set_device(current));
        for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
            use(t, dev);
            t.eq(current, current_device(t), "current device after a call that names device " + std::to_string(dev));
        }
    }
}

void check_env_clean(Test& t, UseBody use) {
    const Environment before = Environment::now();
    use(t, t.facts.device_count - 1);
    std::string changed;
    for (const std::string& sentence : differences(before, Environment::now())) {
        changed += (changed.empty() ? "" : "; ") + sentence;
    }
    t.eq(std::string(), changed, "what the call changed in the process");
}

void check_use_keeps_nothing(Test& t, UseBody use) {
    t.no_leak(leak_calls, [&] { use(t, 0); });
}

over other_device() {
    return {"dev", {Value("other", {devices(2)})}};
}

// ---- Objects of a use ----

Block::Block(Test& t, hal_dev dev, uint64_t size, Where where) : test_(t), dev_(dev), size_(size), where_(where) {
    t.ok(t.api.device_memory_allocate(dev, size, &ptr_), "device_memory_allocate", where);
}

Block::Block(Test& t, hal_dev dev, const HostBuffer& data, Where where) : Block(t, dev, data.size(), where) {
    t.ok(t.api.memory_copy_h2d(dev, ptr_, data.data(), data.size()), "memory_copy_h2d", where);
}

Block::~Block() {
    if (ptr_ != 0) {
        test_.ok(test_.api.device_memory_deallocate(dev_, ptr_, size_), "device_memory_deallocate", where_);
    }
}

void Block::expect(const Pattern& pattern, std::string_view what, Where where) const {
    const HostBuffer back(size_);
    test_.ok(test_.api.memory_copy_d2h(dev_, back.data(), ptr_, size_), "memory_copy_d2h", where);
    test_.expect(back, pattern, what, where);
}

OwnStream::OwnStream(Test& t, hal_dev dev, Where where) : test_(t), dev_(dev), where_(where) {
    if (t.api.create_stream && t.api.destroy_stream) {
        t.ok(t.api.create_stream(dev, nullptr, &stream_), "create_stream", where);
    }
}

OwnStream::~OwnStream() {
    if (stream_ != nullptr) {
        test_.ok(test_.api.destroy_stream(dev_, stream_), "destroy_stream", where_);
    }
}

OwnEvent::OwnEvent(Test& t, hal_dev dev, uint32_t flags, Where where) : test_(t), dev_(dev), where_(where) {
    hal_event_desc desc{};
    desc.header.size = sizeof desc;
    desc.flags = flags;
    t.ok(t.api.create_event(dev, flags == 0 ? nullptr : &desc, &event_), "create_event", where);
}

OwnEvent::~OwnEvent() {
    if (event_ != nullptr) {
        test_.ok(test_.api.destroy_event(dev_, event_), "destroy_event", where_);
    }
}

}  // namespace hal::conformance
