// The leak rule against fakes of every kind of leak, and against growth that is none.
#include "harness/meters.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

using namespace hal::conformance;

namespace {

std::vector<std::string> leaking(const std::function<void()>& chunk) {
    std::vector<std::string> names;
    for (const Leak& leak : find_leaks([] { return read_meters(); }, chunk, leak_thresholds(Api{}, 0))) {
        names.push_back(leak.meter);
    }
    return names;
}

bool named(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// A device whose memory in use the test sets.
std::vector<Leak> device_leaks(const std::vector<uint64_t>& used, uint64_t threshold) {
    size_t at = 0;
    Meters meters;
    meters.device_bytes = {77, used[0]};
    LeakThresholds thresholds;
    thresholds.device_bytes = threshold;
    return find_leaks([&] { return meters; },
                      [&] {
                          meters.device_bytes[1] = used[std::min(at, used.size() - 1)];
                          ++at;
                      },
                      thresholds);
}

}  // namespace

TEST_CASE("a chunk that keeps nothing is no leak") {
    CHECK(leaking([] {}).empty());
    CHECK(leaking([] {
              for (int i = 0; i < 100; ++i) {
                  std::vector<char> block(static_cast<size_t>(1000 + 97 * i), 'x');
                  std::thread([&] { block.assign(5000, 'y'); }).join();
                  close(dup(2));
              }
          }).empty());
}

TEST_CASE("descriptors that stay open are a leak") {
    std::vector<int> kept;
    CHECK(leaking([&] { kept.push_back(dup(2)); }) == std::vector<std::string>{"open descriptors"});
    std::for_each(kept.begin(), kept.end(), [](int fd) { close(fd); });
}

TEST_CASE("threads that stay are a leak") {
    std::mutex mutex;
    std::condition_variable changed;
    bool end = false;
    std::vector<std::thread> kept;
    const auto names = leaking([&] {
        kept.emplace_back([&] {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return end; });
        });
    });
    CHECK(named(names, "threads"));
    {
        const std::lock_guard lock(mutex);
        end = true;
    }
    changed.notify_all();
    std::for_each(kept.begin(), kept.end(), [](std::thread& thread) { thread.join(); });
}

TEST_CASE("entries of /dev/shm that stay are a leak") {
    std::vector<std::string> kept;
    const auto names = leaking([&] {
        kept.push_back("/hal_meters_test_" + std::to_string(getpid()) + "_" + std::to_string(kept.size()));
        close(shm_open(kept.back().c_str(), O_CREAT | O_RDWR, 0600));
    });
    CHECK(names == std::vector<std::string>{"entries of /dev/shm"});
    std::for_each(kept.begin(), kept.end(), [](const std::string& name) { shm_unlink(name.c_str()); });
}

TEST_CASE("host memory: a heap leak is seen although the heap has free room, small growth is none") {
    if (!leak_thresholds(Api{}, 0).judge_host_memory) {
        return;
    }
    // Room that hides the leak from the resident size.
    void* room = malloc(1 << 20);
    std::memset(room, 1, 1 << 20);
    std::vector<void*> kept;
    kept.reserve(100'000);
    free(room);
    const auto leak_bytes = [&](size_t bytes) {
        return leaking([&] {
            for (int i = 0; i < 100; ++i) {
                kept.push_back(malloc(bytes));
            }
        });
    };
    CHECK(named(leak_bytes(200), "bytes given out by malloc"));
    CHECK(leak_bytes(16).empty());
    std::for_each(kept.begin(), kept.end(), [](void* block) { free(block); });
}

TEST_CASE("host memory: mappings and resident pages that stay are a leak") {
    if (!leak_thresholds(Api{}, 0).judge_host_memory) {
        return;
    }
    constexpr size_t bytes = 64 * 1024;
    std::vector<void*> kept;
    const auto names = leaking([&] {
        void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        std::memset(block, 1, bytes);
        kept.push_back(block);
    });
    CHECK(named(names, "resident bytes"));
    std::for_each(kept.begin(), kept.end(), [](void* block) { munmap(block, bytes); });
}

TEST_CASE("device memory: growth in every chunk is a leak, growth that ends is not") {
    std::vector<uint64_t> rising;
    for (uint64_t i = 0; i < 20; ++i) {
        rising.push_back(i * 256);
    }
    const auto leaks = device_leaks(rising, 256);
    REQUIRE(leaks.size() == 1);
    CHECK(leaks[0].meter == "bytes in use on device 1");
    CHECK(leaks[0].growths.starts_with("+256 +256"));
    CHECK(device_leaks(rising, 100'000).empty());                             // below the threshold
    CHECK(device_leaks({0, 10, 20, 20, 30, 40, 50, 60, 70, 80}, 1).empty());  // one chunk did not grow
    CHECK(device_leaks({0, 1000, 2000, 3000, 4000, 5000, 6000}, 1).empty());  // a cache that fills, then stays
    CHECK(device_leaks({5, 5, 5}, 1).empty());
}
