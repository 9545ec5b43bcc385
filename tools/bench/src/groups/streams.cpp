// Enqueueing, waiting and idling. A task is a host callback that counts; the peers run the same work or an empty
// kernel.
#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "benchmark.hpp"
#include "clock.hpp"
#include "context.hpp"
#include "fill_launch.hpp"
#include "handoff.hpp"
#include "lane.hpp"

namespace hal::bench {
namespace {

// Longer than any sensible spin before parking; what is measured begins after it.
constexpr std::chrono::microseconds until_parked{500};

// Tasks that may wait in a queue without filling it.
constexpr uint64_t burst = 256;

// Nanoseconds a task of f(), which issues `burst` tasks; drain() comes after each burst and is not timed.
template <class F, class Drain>
double burst_ns(double batch_s, F f, Drain drain) {
    int64_t took = 0;
    uint64_t bursts = 0;
    const auto aim = static_cast<int64_t>(batch_s * 1e9);
    while (took < aim) {
        took += timed(f);
        drain();
        ++bursts;
    }
    return static_cast<double>(took) / static_cast<double>(bursts * burst);
}

// Microseconds of f() when every thread involved has gone to sleep before it: the median of several.
template <class F>
double parked_us(int samples, F f) {
    std::vector<double> took;
    for (int i = 0; i < samples; ++i) {
        std::this_thread::sleep_for(until_parked);
        took.push_back(static_cast<double>(timed(f)) / 1e3);
    }
    return median(took);
}

Sampler hot_launch_synchronise(const std::shared_ptr<Lane>& lane, double batch_s) {
    return [per_call = PerCall(batch_s, [lane](uint64_t count) {
                for (uint64_t i = 0; i < count; ++i) {
                    lane->launch();
                    lane->stream.synchronize();
                }
            })]() mutable { return per_call() / 1e3; };
}

Contest launch_synchronise_hot(Context& context) {
    const double batch_s = context.settings().batch_s;
    Contest contest;
    contest.ours = hot_launch_synchronise(std::make_shared<Lane>(context.backend()), batch_s);
    // The peer's thread lives only while it is measured: a third spinning thread would take a core away from us.
    contest.peer = [batch_s] {
        HandOff hand_off(false, false);
        PerCall per_call(batch_s, [&](uint64_t count) {
            for (uint64_t i = 0; i < count; ++i) {
                hand_off.round_trip();
            }
        });
        return per_call() / 1e3;
    };
    return contest;
}

Contest launch_synchronise_parked(Context& context, bool peer_caller_parks) {
    const int samples = context.settings().quick ? 10 : 40;
    const auto lane = std::make_shared<Lane>(context.backend());
    Contest contest;
    contest.ours = [lane, samples] {
        return parked_us(samples, [&] {
            lane->launch();
            lane->stream.synchronize();
        });
    };
    contest.peer = [samples, peer_caller_parks] {
        HandOff hand_off(true, peer_caller_parks);
        return parked_us(samples, [&] { hand_off.round_trip(); });
    };
    contest.note = fmt::format("idle {} us before each launch", until_parked.count());
    return contest;
}

Contest enqueue(Context& context) {
    const double batch_s = context.settings().batch_s;
    const auto lane = std::make_shared<Lane>(context.backend());
    Contest contest;
    contest.ours = [lane, batch_s] {
        const auto issue = [&] {
            for (uint64_t i = 0; i < burst; ++i) {
                lane->launch();
            }
        };
        return burst_ns(batch_s, issue, [&] { lane->stream.synchronize(); });
    };
    contest.peer = [batch_s] {
        Ring ring;
        uint64_t executed = 0;
        const auto issue = [&] {
            for (uint64_t i = 0; i < burst; ++i) {
                ring.push(count_up, &executed);
            }
        };
        return burst_ns(batch_s, issue, [&] { ring.wait_empty(); });
    };
    contest.note = fmt::format("bursts of {}", burst);
    return contest;
}

uint64_t task_count(const Settings& settings) {
    return settings.quick ? 50'000 : 500'000;
}

// Enqueues all, waits for all, and makes sure that all ran. Million tasks a second.
Sampler lane_rate(const std::shared_ptr<Lane>& lane, uint64_t count) {
    return [lane, count] {
        const uint64_t before = lane->executed;
        const int64_t took = timed([&] {
            for (uint64_t i = 0; i < count; ++i) {
                lane->launch();
            }
            lane->stream.synchronize();
        });
        if (lane->executed - before != count) {
            throw std::runtime_error(fmt::format("{} of {} callbacks ran", lane->executed - before, count));
        }
        return static_cast<double>(count) * 1e3 / static_cast<double>(took);
    };
}

Contest rate_against_ring(Context& context) {
    const uint64_t count = task_count(context.settings());
    Contest contest;
    contest.ours = lane_rate(std::make_shared<Lane>(context.backend()), count);
    contest.peer = [count] {
        Ring ring;
        uint64_t executed = 0;
        const int64_t took = timed([&] {
            for (uint64_t i = 0; i < count; ++i) {
                ring.push(count_up, &executed);
            }
            ring.wait_empty();
        });
        return static_cast<double>(count) * 1e3 / static_cast<double>(took);
    };
    contest.note = "a task is a host callback that counts";
    return contest;
}

std::shared_ptr<OpenCl> require_opencl(Context& context) {
    std::string absence;
    auto opencl = context.opencl(&absence);
    if (!opencl) {
        throw Unavailable(absence);
    }
    return opencl;
}

// Empty kernels on an in-order queue, million a second.
Sampler opencl_rate(std::shared_ptr<OpenCl> opencl, uint64_t count) {
    return [opencl = std::move(opencl), count] {
        const int64_t took = timed([&] { opencl->launch_then_finish(count); });
        return static_cast<double>(count) * 1e3 / static_cast<double>(took);
    };
}

Contest kernel_rate_against_opencl(Context& context) {
    const auto opencl = require_opencl(context);
    const uint64_t count = task_count(context.settings());
    const auto stream = std::make_shared<Stream>(context.backend());
    const auto fill = std::make_shared<FillLaunch>(context.backend());
    Contest contest;
    contest.ours = [=] {
        const int64_t took = timed([&] {
            for (uint64_t i = 0; i < count; ++i) {
                fill->launch(stream->get());
            }
            stream->synchronize();
        });
        return static_cast<double>(count) * 1e3 / static_cast<double>(took);
    };
    contest.peer = opencl_rate(opencl, count / 50);
    contest.note = fmt::format("Fill of 16 floats against empty kernels of {}", opencl->platform());
    return contest;
}

Contest rate_against_opencl(Context& context) {
    const auto opencl = require_opencl(context);
    const uint64_t count = task_count(context.settings());
    Contest contest;
    contest.ours = lane_rate(std::make_shared<Lane>(context.backend()), count);
    contest.peer = opencl_rate(opencl, count / 50);
    contest.note = fmt::format("callbacks against empty kernels of {}, in order", opencl->platform());
    return contest;
}

Contest round_trips_against_opencl(Context& context) {
    const double batch_s = context.settings().batch_s;
    const auto opencl = require_opencl(context);
    Contest contest;
    contest.ours = [micros = hot_launch_synchronise(std::make_shared<Lane>(context.backend()), batch_s)] {
        return 1e3 / micros();
    };
    contest.peer = [per_call = PerCall(batch_s, [opencl](uint64_t count) {
                        for (uint64_t i = 0; i < count; ++i) {
                            opencl->launch_then_finish(1);
                        }
                    })]() mutable { return 1e6 / per_call(); };
    contest.note = fmt::format("empty kernel and clFinish on {}", opencl->platform());
    return contest;
}

Contest event_link(Context& context) {
    const double batch_s = context.settings().batch_s;
    const Backend& backend = context.backend();
    const auto from = std::make_shared<Lane>(backend);
    const auto to = std::make_shared<Lane>(backend);
    const auto event = std::make_shared<Event>(backend);
    Contest contest;
    contest.ours = [=, &backend] {
        const auto issue = [&] {
            for (uint64_t i = 0; i < burst; ++i) {
                check(hal_record_event(backend.get(), backend.device(), from->stream.get(), event->get()),
                      "record_event");
                check(hal_stream_wait_event(backend.get(), backend.device(), to->stream.get(), event->get()),
                      "stream_wait_event");
            }
        };
        return burst_ns(batch_s, issue, [&] {
            from->stream.synchronize();
            to->stream.synchronize();
        });
    };
    contest.peer = [batch_s] {
        Ring ring;
        uint64_t executed = 0;
        const auto issue = [&] {
            for (uint64_t i = 0; i < 2 * burst; ++i) {
                ring.push(count_up, &executed);
            }
        };
        return burst_ns(batch_s, issue, [&] { ring.wait_empty(); });
    };
    contest.note = fmt::format("bursts of {} pairs", burst);
    return contest;
}

// Percent of a core that this process burns over a pause.
double pause_cpu_percent(std::chrono::milliseconds pause) {
    const int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const int64_t wall = timed([&] { std::this_thread::sleep_for(pause); });
    return 100.0 * static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / static_cast<double>(wall);
}

Contest idle_cpu(Context& context) {
    constexpr int stream_count = 8;
    const std::chrono::milliseconds pause(context.settings().quick ? 100 : 500);
    const Backend& backend = context.backend();
    Contest contest;
    contest.ours = [&backend, pause] {
        std::vector<std::unique_ptr<Lane>> lanes;
        lanes.reserve(stream_count);
        for (int i = 0; i < stream_count; ++i) {
            lanes.push_back(std::make_unique<Lane>(backend));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return pause_cpu_percent(pause);
    };
    contest.peer = [pause] { return pause_cpu_percent(pause); };
    contest.note = fmt::format("{} streams, each used once, over {} ms", stream_count, pause.count());
    return contest;
}

std::vector<Benchmark> benchmarks(const Settings&) {
    return {{"streams/launch-sync-hot",
             "callback and synchronise, worker hot",
             "two threads spin on a word",
             "us",
             Better::lower,
             {GoalKind::value_at_most, 0.25},
             launch_synchronise_hot},
            {"streams/launch-sync-parked",
             "the same, worker parked",
             "raw futex, caller spins",
             "us",
             Better::lower,
             {GoalKind::ratio_at_most, 1.1},
             [](Context& context) { return launch_synchronise_parked(context, false); }},
            {"streams/launch-sync-parked-both",
             "the same, worker parked",
             "raw futex, both park",
             "us",
             Better::lower,
             {},
             [](Context& context) { return launch_synchronise_parked(context, true); }},
            {"streams/enqueue",
             "stream_add_callback",
             "boost spsc_queue push",
             "ns",
             Better::lower,
             {GoalKind::value_at_most, 60},
             enqueue},
            {"streams/tasks",
             "callbacks in a row",
             "boost spsc_queue and a thread",
             "M/s",
             Better::higher,
             {GoalKind::value_at_least, 15},
             rate_against_ring},
            {"streams/tasks-opencl",
             "callbacks in a row",
             "OpenCL launches",
             "M/s",
             Better::higher,
             {GoalKind::ratio_at_least, 50},
             rate_against_opencl},
            {"streams/kernels-opencl",
             "Fill kernels in a row",
             "OpenCL launches",
             "M/s",
             Better::higher,
             {},
             kernel_rate_against_opencl},
            {"streams/launch-sync-opencl",
             "callback and synchronise",
             "OpenCL launch and finish",
             "k/s",
             Better::higher,
             {GoalKind::ratio_at_least, 50},
             round_trips_against_opencl},
            {"streams/event-link",
             "record_event and stream_wait_event",
             "two spsc_queue pushes",
             "ns",
             Better::lower,
             {GoalKind::value_at_most, 50},
             event_link},
            {"streams/idle-cpu",
             "CPU time while streams idle",
             "no streams",
             "% of a core",
             Better::lower,
             {GoalKind::value_at_most, 1},
             idle_cpu}};
}

const Registration registration({"streams", "enqueueing, waiting and idling", benchmarks});

}  // namespace
}  // namespace hal::bench
