#include "async_copy.hpp"

namespace hal::conformance {

Sides prepare(Test& t, const Copy& copy, uint64_t size) {
    Sides sides;
    sides.pattern = t.pattern();
    sides.size = size;
    sides.target_dev = copy.across ? 1 : 0;
    if (copy.host_source || copy.host_target) {
        sides.host = copy.host_source ? &t.host(sides.pattern, size) : &t.host(size);
    }
    if (!copy.host_source) {
        sides.from = &t.device(sides.pattern, size);
    }
    if (!copy.host_target) {
        sides.to = &t.device(size, sides.target_dev);
    }
    return sides;
}

hal_status start(Test& t, const Copy& copy, const Sides& s, hal_stream stream) {
    if (copy.host_source) {
        return t.api.async_memory_copy_h2d(0, stream, s.to->ptr, s.host->data(), s.size);
    }
    if (copy.host_target) {
        return t.api.async_memory_copy_d2h(0, stream, s.host->data(), s.from->ptr, s.size);
    }
    if (copy.across) {
        return t.api.async_memory_copy_p2p(1, s.to->ptr, 0, s.from->ptr, stream, s.size);
    }
    return t.api.async_memory_copy_d2d(0, stream, s.to->ptr, s.from->ptr, s.size);
}

void expect_arrived(Test& t, const Copy& copy, const Sides& s, Where where) {
    if (copy.host_target) {
        t.expect(*s.host, s.pattern, "the destination", where);
    } else {
        t.expect(*s.to, s.pattern, "the destination", where);
    }
}

// Without buffers of the test, so that several threads may do it.
void renew(Test& t, const Copy& copy, Sides& s) {
    s.pattern = t.pattern();
    HostBuffer image(s.size);
    if (!copy.host_target) {
        t.ok(t.api.memory_copy_h2d(s.target_dev, s.to->ptr, image.data(), s.size));
    } else {
        s.host->repoison();
    }
    if (copy.host_source) {
        s.host->write(s.pattern);
    } else {
        image.write(s.pattern);
        t.ok(t.api.memory_copy_h2d(0, s.from->ptr, image.data(), s.size));
    }
}

const NeedGroup& three_ways() {
    static const NeedGroup group{E::synchronize_stream, E::create_event, E::record_event, E::synchronize_event,
                                 E::synchronize_device};
    return group;
}

}  // namespace hal::conformance
