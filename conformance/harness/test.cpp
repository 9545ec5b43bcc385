#include "test.hpp"

#include <algorithm>
#include <exception>

#include "load.hpp"

namespace hal::conformance {
namespace {

std::string file_of(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace

Test::Test(const Target& plugin, const Instance& instance, const Facts& known, uint64_t seed, const Limits& bounds,
           Recorder& recorder, const RankLink* link)
    : backend_(std::make_unique<Backend>(plugin)),
      api(backend_->api()),
      limits(bounds),
      facts(known),
      target(plugin),
      dev(link == nullptr ? 0 : link->place % std::max(known.device_count, 1)),
      recorder_(recorder),
      instance_(instance),
      link_(link),
      seed_(case_seed(seed, instance.id)) {
    if (const hal_status status = backend_->initialize(); status != HAL_OK) {
        fail("initialize before the case", Where::here(), "HAL_OK", to_string(status) + ": " + Host::last_error().text);
    }
}

Test::~Test() {
    try {
        clean_up();
    } catch (const std::exception& error) {
        recorder_.inconclusive(error.what());
    }
}

// ---- Checks ----

void Test::fail(std::string_view what, Where where, std::string expected, std::string got, enum authority at_most) {
    std::string text;
    for (const auto& part : context_) {
        text += part + " ";
    }
    text += what;
    recorder_.failed({file_of(where.file) + ":" + std::to_string(where.line), text, std::move(expected), std::move(got),
                      weaker(instance_.origin->authority, at_most)});
}

bool Test::check(bool good, std::string_view what, Where where) {
    return judge(
        good, what, where, [] { return "yes"; }, [] { return "no"; });
}

bool Test::quality(bool good, std::string_view what, Where where) {
    return judge(
        good, what, where, [] { return "yes"; }, [] { return "no"; }, authority::Q);
}

bool Test::ok(hal_status got, std::string_view what, Where where) {
    return judge(
        got == HAL_OK, what, where, [] { return "HAL_OK"; },
        [&] { return got < 0 ? to_string(got) + ": " + Host::last_error().text : to_string(got); });
}

bool Test::set_up(hal_status got, std::string_view what, Where where) {
    return got == HAL_OK || ok(got, what, where);
}

bool Test::fails(hal_status expected, const std::function<hal_status()>& call, Where where) {
    return fails_any({expected}, call, where);
}

bool Test::fails_any(std::initializer_list<hal_status> expected, const std::function<hal_status()>& call, Where where) {
    const uint64_t before = Host::last_error().serial;
    const hal_status got = call();
    const bool listed = std::find(expected.begin(), expected.end(), got) != expected.end();
    const auto names = [&] {
        std::string text;
        for (const hal_status status : expected) {
            text += (text.empty() ? "" : " or ") + to_string(status);
        }
        return text;
    };
    if (!judge(listed, "refusal", where, names, [&] { return to_string(got); })) {
        return false;
    }
    const ErrorRecord& error = Host::last_error();
    const bool texted =
        error.serial != before && error.status == got && !error.text.empty() && valid_text(error.text, true);
    return judge(
        texted, "error text of the refusal", where, [&] { return "a text in UTF-8 for " + to_string(got); },
        [&] {
            return error.serial == before ? std::string("set_error was not called")
                                          : "\"" + error.text + "\" for " + to_string(error.status);
        },
        authority::A);
}

void Test::metric(std::string name, double value, std::string unit) {
    metrics_.push_back({std::move(name), value, std::move(unit)});
}

std::shared_ptr<void> Test::context(std::string_view name, uint64_t value) {
    context_.push_back(std::string(name) + "=" + std::to_string(value));
    return {nullptr, [this](void*) { context_.pop_back(); }};
}

// ---- Parameters and data ----

std::string_view Test::param(std::string_view name) const {
    const auto found = instance_.params.find(name);
    return found == instance_.params.end() ? std::string_view() : found->second;
}

hal_dev Test::bad_device() const {
    const std::string_view text = param("dev");
    return text == "-1" ? -1 : text == "count" ? facts.device_count : INT32_MAX;
}

Pattern Test::pattern() {
    return {seed_, next_buffer_++};
}
uint64_t Test::random() {
    return mix(seed_ ^ mix(next_random_++));
}

// ---- Streams and events ----

hal_stream Test::stream(hal_dev on, Where where) {
    if (!api.create_stream) {
        return nullptr;
    }
    hal_stream made = nullptr;
    if (set_up(api.create_stream(on, nullptr, &made), "create_stream for the case", where)) {
        streams_.emplace_back(on, made);
    }
    return made;
}

hal_event Test::event(hal_dev on, uint32_t flags, Where where) {
    hal_event made = nullptr;
    hal_event_desc desc{};
    desc.header.size = sizeof desc;
    desc.flags = flags;
    if (set_up(api.create_event(on, flags == 0 ? nullptr : &desc, &made), "create_event for the case", where)) {
        events_.emplace_back(on, made);
    }
    return made;
}

void Test::forget(hal_stream stream) {
    std::erase_if(streams_, [&](const auto& pair) { return pair.second == stream; });
}

void Test::forget(hal_event event) {
    std::erase_if(events_, [&](const auto& pair) { return pair.second == event; });
}

void Test::sync(hal_stream stream, hal_dev on, Where where) {
    const auto limit_ns = static_cast<uint64_t>(std::chrono::nanoseconds(limits.finish).count());
    set_up(api.synchronize_stream ? api.synchronize_stream(on, stream, limit_ns) : api.synchronize_device(on, limit_ns),
           "synchronize", where);
}

// ---- The end of a case ----

void Test::clean_up() {
    if (clean_) {
        return;
    }
    clean_ = true;
    for (const Gate& gate : gates_) {
        if (gate.expired()) {
            recorder_.inconclusive("a gate was not opened in time");
        }
        gate.open();
    }
    drain();
    confirm_loads();
    destroy_objects();
    for (const Gate& gate : gates_) {
        if (!gate.left()) {
            gate.leak();
        }
    }
    for (const HostBuffer& buffer : host_buffers_) {
        if (!buffer.guards_intact()) {
            fail("the bytes around a host buffer", Where::here(), "untouched", "overwritten");
        }
    }
    if (const hal_status status = backend_->finalize(); status != HAL_OK) {
        fail("finalize after the case", Where::here(), "HAL_OK", to_string(status) + ": " + Host::last_error().text);
    }
    backend_->destroy();
}

// Any outcome but a time-out: a stream that the case has broken still ends its work.
void Test::drain() {
    const auto limit_ns = static_cast<uint64_t>(std::chrono::nanoseconds(limits.finish).count());
    for (hal_dev on = 0; on < facts.device_count && api.synchronize_device; ++on) {
        if (api.synchronize_device(on, limit_ns) == HAL_ERROR_TIMEOUT) {
            fail("work left by the case", Where::here(), "ends", "still running after the limit");
        }
    }
}

// A load that was measured on a busy machine may have ended sooner than we thought when the case accused the plug-in.
void Test::confirm_loads() {
    if (recorder_.record().bad() == 0) {
        return;
    }
    for (const auto& [on, load] : loads_) {
        if (!load->confirm()) {
            recorder_.inconclusive("the load of a gate was shorter than measured");
        }
    }
}

void Test::destroy_objects() {
    loads_.clear();
    destroy_comms();
    for (const auto& [on, event] : events_) {
        if (api.destroy_event(on, event) != HAL_OK) {
            fail("destroy_event after the case", Where::here(), "HAL_OK", Host::last_error().text);
        }
    }
    for (const auto& [on, stream] : streams_) {
        if (api.destroy_stream && api.destroy_stream(on, stream) != HAL_OK) {
            fail("destroy_stream after the case", Where::here(), "HAL_OK", Host::last_error().text);
        }
    }
    for (DeviceBuffer& buffer : device_buffers_) {
        release(buffer);
    }
}

}  // namespace hal::conformance
