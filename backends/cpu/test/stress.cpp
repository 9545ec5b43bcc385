// 64 threads on shared streams and events at once, with callbacks: nothing is lost, nothing is early, no data race.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>
#include <vector>

#include "device.hpp"
#include "event.hpp"
#include "tables.hpp"
#include "test_host.hpp"

namespace hal::cpu {
namespace {

constexpr uint32_t thread_count = 64;
constexpr uint32_t stream_count = 16;
constexpr uint32_t rounds = 60;

struct Shared {
    test::OpenInstance opened{2};
    hal_instance* self = opened.self();
    std::array<hal_stream, stream_count> streams{};
    std::array<uint64_t, stream_count> runs{};  // written by each stream's own worker
    std::atomic<uint64_t> enqueued{0};
    std::atomic<uint64_t> callbacks{0};
    std::atomic<uint64_t> called{0};
    std::atomic<uint64_t> wrong{0};

    static hal_dev device_of(size_t stream) { return static_cast<hal_dev>(stream % 2); }
    void ok(hal_status status) { wrong += status != HAL_OK; }
};

// One thread: a hand-over of plain data from a stream to another by an event of its own, beside random work on all
// streams.
class Actor {
  public:
    Actor(Shared& shared, uint32_t seed) : shared_(shared), random_(seed) {
        hal_event_desc desc{};
        desc.header.size = sizeof desc;
        desc.flags = seed % 2 == 0 ? 0 : HAL_EVENT_TIMING;
        source_ = pick();
        shared_.ok(event_table.create_event(shared_.self, Shared::device_of(source_), &desc, &event_));
    }

    void run() {
        for (uint32_t round = 1; round <= rounds; ++round) {
            hand_over(round);
            disturb();
        }
        shared_.ok(event_table.destroy_event(shared_.self, Shared::device_of(source_), event_));
    }

  private:
    size_t pick() { return random_() % stream_count; }

    void work(size_t stream) {
        shared_.enqueued.fetch_add(1);
        enqueue(shared_.opened.instance(), Shared::device_of(stream), shared_.streams[stream],
                [&runs = shared_.runs[stream]] {
                    ++runs;
                    return HAL_OK;
                });
    }

    void hand_over(uint32_t round) {
        const size_t target = pick();
        enqueue(shared_.opened.instance(), Shared::device_of(source_), shared_.streams[source_], [this, round] {
            value_ = round;
            return HAL_OK;
        });
        shared_.ok(
            event_table.record_event(shared_.self, Shared::device_of(source_), shared_.streams[source_], event_));
        shared_.ok(
            stream_table.stream_wait_event(shared_.self, Shared::device_of(target), shared_.streams[target], event_));
        enqueue(shared_.opened.instance(), Shared::device_of(target), shared_.streams[target], [this, round] {
            shared_.wrong += value_ != round;
            return HAL_OK;
        });
        // The next round writes value_ again, so the reader must be through.
        shared_.ok(stream_table.synchronize_stream(shared_.self, Shared::device_of(target), shared_.streams[target],
                                                   HAL_NO_TIMEOUT));
        shared_.ok(event_table.query_event(shared_.self, Shared::device_of(source_), event_));
    }

    void disturb() {
        const size_t stream = pick();
        const hal_dev device = Shared::device_of(stream);
        work(stream);
        switch (random_() % 4) {
            case 0:
                shared_.callbacks.fetch_add(1);
                shared_.ok(stream_table.stream_add_callback(
                    shared_.self, device, shared_.streams[stream],
                    [](void* shared, hal_dev, hal_stream, hal_status) {
                        static_cast<Shared*>(shared)->called.fetch_add(1);
                    },
                    &shared_));
                break;
            case 1: {
                const hal_status status =
                    stream_table.query_stream(shared_.self, device, shared_.streams[stream], nullptr);
                shared_.wrong += status != HAL_OK && status != HAL_NOT_READY;
                break;
            }
            case 2: {
                hal_stream own = nullptr;
                shared_.ok(stream_table.create_stream(shared_.self, device, nullptr, &own));
                shared_.ok(stream_table.stream_wait_event(shared_.self, device, own, event_));
                uint64_t ran = 0;
                enqueue(shared_.opened.instance(), device, own, [&ran] { return ++ran, HAL_OK; });
                shared_.ok(stream_table.destroy_stream(shared_.self, device, own));
                shared_.wrong += ran != 1;
                break;
            }
            default: {
                const hal_status status = device_table.synchronize_device(shared_.self, device, random_() % 1'000'000);
                shared_.wrong += status != HAL_OK && status != HAL_ERROR_TIMEOUT;
            }
        }
    }

    Shared& shared_;
    std::mt19937 random_;
    size_t source_ = 0;
    hal_event event_ = nullptr;
    uint32_t value_ = 0;  // plain: the event orders it
};

TEST_CASE("64 threads, 16 streams of two devices, events, callbacks, short-lived streams") {
    Shared shared;
    for (size_t i = 0; i < stream_count; ++i) {
        REQUIRE(stream_table.create_stream(shared.self, Shared::device_of(i), nullptr, &shared.streams[i]) == HAL_OK);
    }
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < thread_count; ++t) {
        threads.emplace_back([&shared, t] {
            try {
                Actor(shared, t).run();
            } catch (const sdk::Error&) {
                ++shared.wrong;
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    for (const hal_dev device : {0, 1}) {
        CHECK(device_table.synchronize_device(shared.self, device, HAL_NO_TIMEOUT) == HAL_OK);
    }
    uint64_t runs = 0;
    for (const uint64_t count : shared.runs) {
        runs += count;
    }
    CHECK(shared.wrong == 0);
    CHECK(runs == shared.enqueued);
    CHECK(shared.called == shared.callbacks);
    for (size_t i = 0; i < stream_count; ++i) {
        CHECK(stream_table.destroy_stream(shared.self, Shared::device_of(i), shared.streams[i]) == HAL_OK);
    }
    CHECK(device_table.finalize(shared.self) == HAL_OK);
}

}  // namespace
}  // namespace hal::cpu
