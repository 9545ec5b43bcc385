// GB/T 45280-2025 by clause, where no case of a table stands for it already.
#include "waits.hpp"

namespace hal::conformance {
namespace {

// 7.1: a wait with a time limit ends with a code of its own, and the work goes on.
over waiting_calls() {
    return {"call",
            {Value("device", {need_entry(E::synchronize_device)}), Value("stream", {need_entry(E::synchronize_stream)}),
             Value("event", event_io().list)}};
}

HAL_CASE("45280.7_1.timeout_code", clauses{"45280/7.1"}, authority::A, needs{E::synchronize_device, any_work, a_gate},
         waiting_calls())
(Test& t) {
    const bool by_event = t.param("call") == "event";
    const bool by_stream = t.param("call") == "stream";
    const hal_stream s = t.stream();
    const hal_event event = by_event ? t.event() : nullptr;
    Work& w = t.work(s);
    const Gate g = t.gate(s);
    w.enqueue();
    if (by_event) {
        t.ok(t.api.record_event(0, s, event));
    }
    check_gives_up(t, g, [&](uint64_t limit_ns) {
        return by_event    ? t.api.synchronize_event(0, event, limit_ns)
               : by_stream ? t.api.synchronize_stream(0, s, limit_ns)
                           : t.api.synchronize_device(0, limit_ns);
    });
    g.open();
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT), "the same wait without a limit");
    w.expect_done();
}

// 7.1: success is 0 and nothing else is; each refusal has a code below 0.
HAL_CASE("45280.7_1.nonzero_on_error", clauses{"45280/7.1"}, authority::S,
         needs{E::set_device, E::create_event, E::destroy_event, E::record_event, E::synchronize_event,
               E::synchronize_device})
(Test& t) {
    const hal_dev none = t.facts.device_count;
    hal_event made = nullptr;
    const hal_event event = t.event();
    const auto refused = [&](hal_status status, std::string_view what) {
        t.check(static_cast<int32_t>(status) < 0, what);
    };
    refused(t.api.set_device(none), "set_device of a device that is none");
    refused(t.api.synchronize_device(none, HAL_NO_TIMEOUT), "synchronize_device of a device that is none");
    refused(t.api.create_event(none, nullptr, &made), "create_event on a device that is none");
    refused(t.api.record_event(none, nullptr, event), "record_event on a device that is none");
    refused(t.api.synchronize_event(0, nullptr, HAL_NO_TIMEOUT), "synchronize_event of no event");
    refused(t.api.destroy_event(0, nullptr), "destroy_event of no event");
    t.eq(0, static_cast<int32_t>(t.api.set_device(0)), "the code of success");
    t.eq(0, static_cast<int32_t>(t.api.record_event(0, nullptr, event)), "the code of success");
    t.eq(0, static_cast<int32_t>(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT)), "the code of success");
}

}  // namespace
}  // namespace hal::conformance
