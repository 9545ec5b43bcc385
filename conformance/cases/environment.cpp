// Rules for the whole process: what belongs to it stays as it was, errors belong to threads, threads need no greeting.
#include "harness/environment.hpp"

#include "harness/test.hpp"
#include "use.hpp"

namespace hal::conformance {
namespace {

void expect_same(Test& t, const Environment& before, std::string_view when) {
    std::string all;
    for (const std::string& sentence : differences(before, Environment::now())) {
        all += (all.empty() ? "" : "; ") + sentence;
    }
    t.eq(std::string(), all, "what changed in the process " + std::string(when));
}

HAL_CASE("45079.X.env.norm.load", clauses{"hal/10"}, authority::A, needs{})
(Test& t) {
    expect_same(t, Environment::before_load(), "when the library was opened");
}

HAL_CASE("45079.X.env.norm.init", clauses{"hal/10"}, authority::A, needs{E::get_device_count})
(Test& t) {
    const Environment before = Environment::now();
    const auto other = t.another();
    expect_same(t, before, "by create");
    int32_t count = 0;
    t.ok(other->initialize());
    expect_same(t, before, "by initialize");
    t.ok(other->api().get_device_count(&count));
    t.ok(other->finalize());
    other->destroy();
    expect_same(t, before, "by finalize and destroy");
}

HAL_CASE("45079.X.env.norm.work", clauses{"hal/10"}, authority::A, needs{any_work, E::synchronize_device})
(Test& t) {
    const Environment before = Environment::now();
    Work& w = t.work(t.stream());
    w.enqueue();
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    w.expect_done();
    expect_same(t, before, "by work of a device");
}

// Refusals too: a locale for the text of an error is a classic.
HAL_CASE("45079.X.env.norm.refusals", clauses{"hal/10"}, authority::A, needs{E::set_device})
(Test& t) {
    const Environment before = Environment::now();
    t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(-1); });
    expect_same(t, before, "by a refusal");
}

// Floating point modes belong to each thread: work of another thread may not leave it with others.
HAL_CASE("45079.X.env.norm.other_thread", clauses{"hal/10"}, authority::A, needs{any_work, E::synchronize_device})
(Test& t) {
    Work& w = t.work(t.stream());
    t.threads(1, [&](int) {
        const Environment before = Environment::now();
        w.enqueue();
        t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
        expect_same(t, before, "of a thread by its first calls");
    });
    w.expect_done();
}

// ---- Threads and errors ----

HAL_CASE("45079.X.thread.norm.foreign_first_call", clauses{"hal/10"}, authority::A,
         needs{E::create_event, E::destroy_event, E::record_event, E::synchronize_event})
(Test& t) {
    t.threads(1, [&](int) {
        const hal_dev dev = t.facts.device_count - 1;
        const OwnEvent event(t, dev);
        t.ok(t.api.record_event(dev, nullptr, event.get()));
        t.ok(t.api.synchronize_event(dev, event.get(), HAL_NO_TIMEOUT));
    });
}

HAL_CASE("45079.X.error.norm.text_of_every_kind", clauses{"hal/4"}, authority::A,
         needs{E::set_device, E::create_event, E::get_device_count})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(t.facts.device_count); });
    const std::string first = Host::last_error().text;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.get_device_count(nullptr); });
    const std::string second = Host::last_error().text;
    t.check(first != second, "different errors have different texts");
    hal_event event = nullptr;
    t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.create_event(-1, nullptr, &event); });
    // Long enough to say what is wrong, short enough to be read.
    for (const std::string& text : {first, second}) {
        t.quality(text.size() >= 8 && text.size() <= 1000, "between 8 and 1,000 bytes of text");
    }
}

// An error of one thread is not seen by another that fails at the same time.
HAL_CASE("45079.X.error.norm.threads_apart", clauses{"hal/4"}, authority::A,
         needs{E::set_device, E::get_device_count, free_threads})
(Test& t) {
    t.threads(8, [&](int thread) {
        for (int i = 0; i < 200; ++i) {
            if (thread % 2 == 0) {
                t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(-1); });
            } else {
                t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.get_device_count(nullptr); });
            }
        }
    });
}

}  // namespace
}  // namespace hal::conformance
