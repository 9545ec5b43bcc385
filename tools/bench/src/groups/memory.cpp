// Copies, fills, allocation and first touch, against libc and the kernel.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "benchmark.hpp"
#include "buffer.hpp"
#include "clock.hpp"
#include "context.hpp"

namespace hal::bench {
namespace {

constexpr uint64_t kib = 1024;
constexpr uint64_t mib = 1024 * kib;

std::string size_text(uint64_t bytes) {
    return bytes >= mib ? fmt::format("{}MiB", bytes / mib) : fmt::format("{}KiB", bytes / kib);
}

enum class Direction { h2d, d2h, d2d };

const char* text(Direction direction) {
    return direction == Direction::h2d ? "h2d" : direction == Direction::d2h ? "d2h" : "d2d";
}

// Two device ranges and a host range with noise in all of them.
struct CopyGround {
    const Backend& backend;
    Buffer host;
    DeviceMemory first;
    DeviceMemory second;

    CopyGround(const Backend& tested, uint64_t size_bytes)
        : backend(tested), host(size_bytes, Pages::small), first(tested, size_bytes), second(tested, size_bytes) {
        for (const auto* memory : {&first, &second}) {
            check(hal_memory_copy_h2d(backend.get(), backend.device(), memory->get(), host.data(), size_bytes),
                  "memory_copy_h2d");
        }
    }
};

hal_status copy(const CopyGround& ground, Direction direction) {
    const hal_backend* backend = ground.backend.get();
    const hal_dev device = ground.backend.device();
    const uint64_t size = ground.host.size_bytes();
    switch (direction) {
        case Direction::h2d:
            return hal_memory_copy_h2d(backend, device, ground.first.get(), ground.host.data(), size);
        case Direction::d2h:
            return hal_memory_copy_d2h(backend, device, ground.host.data(), ground.first.get(), size);
        case Direction::d2d:
            return hal_memory_copy_d2d(backend, device, ground.second.get(), ground.first.get(), size);
    }
    return HAL_ERROR_INVALID_ARGUMENT;
}

// The ends of memcpy: the very addresses of our copy where the host may use them, else host buffers of the same pages.
struct Ends {
    void* destination;
    const void* source;
    std::shared_ptr<Buffer> stand_in;
};

Ends libc_ends(const CopyGround& ground, Direction direction) {
    auto* host = ground.host.data();
    void* first = reinterpret_cast<void*>(ground.first.get());
    void* second = reinterpret_cast<void*>(ground.second.get());
    std::shared_ptr<Buffer> stand_in;
    if (!ground.backend.host_accessible()) {
        stand_in = std::make_shared<Buffer>(2 * ground.host.size_bytes(), Pages::huge);
        first = stand_in->data();
        second = stand_in->data() + ground.host.size_bytes();
    }
    switch (direction) {
        case Direction::h2d:
            return {first, host, stand_in};
        case Direction::d2h:
            return {host, first, stand_in};
        case Direction::d2d:
            break;
    }
    return {second, first, stand_in};
}

// The compiler must neither drop nor merge copies whose result nobody reads.
void clobber_memory() {
    asm volatile("" : : : "memory");
}

Sampler gigabytes_per_second(uint64_t size_bytes, Sampler nanoseconds) {
    return
        [size_bytes, nanoseconds = std::move(nanoseconds)] { return static_cast<double>(size_bytes) / nanoseconds(); };
}

Contest copy_contest(Context& context, Direction direction, uint64_t size_bytes, bool as_time) {
    const double batch_s = context.settings().batch_s;
    const auto ground = std::make_shared<const CopyGround>(context.backend(), size_bytes);
    check(copy(*ground, direction), "memory_copy");
    Sampler ours = PerCall(batch_s, [ground, direction](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            static_cast<void>(copy(*ground, direction));
        }
    });
    Sampler libc = PerCall(batch_s, [ground, ends = libc_ends(*ground, direction)](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            std::memcpy(ends.destination, ends.source, ground->host.size_bytes());
            clobber_memory();
        }
    });
    if (!as_time) {
        ours = gigabytes_per_second(size_bytes, ours);
        libc = gigabytes_per_second(size_bytes, libc);
    }
    return {ours, libc,
            fmt::format("{}, host 4 KiB pages, device {}",
                        ground->backend.host_accessible() ? "same addresses" : "other buffers", ground->first.pages())};
}

Contest set_contest(Context& context, uint64_t size_bytes) {
    const double batch_s = context.settings().batch_s;
    const auto ground = std::make_shared<const CopyGround>(context.backend(), size_bytes);
    const Ends ends = libc_ends(*ground, Direction::h2d);
    constexpr int value = 0x5a;
    check(
        hal_device_memory_set(ground->backend.get(), ground->backend.device(), ground->first.get(), value, size_bytes),
        "device_memory_set");
    const Sampler ours = PerCall(batch_s, [ground, size_bytes](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            static_cast<void>(hal_device_memory_set(ground->backend.get(), ground->backend.device(),
                                                    ground->first.get(), value, size_bytes));
        }
    });
    const Sampler libc = PerCall(batch_s, [ground, ends, size_bytes](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            std::memset(ends.destination, value, size_bytes);
            clobber_memory();
        }
    });
    Contest contest;
    contest.ours = gigabytes_per_second(size_bytes, ours);
    contest.peer = gigabytes_per_second(size_bytes, libc);
    contest.note = fmt::format("device {}", ground->first.pages());
    return contest;
}

Contest allocate_contest(Context& context, uint64_t size_bytes) {
    const double batch_s = context.settings().batch_s;
    const Backend& backend = context.backend();
    static_cast<void>(DeviceMemory(backend, size_bytes));
    Contest contest;
    contest.ours = PerCall(batch_s, [&backend, size_bytes](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            hal_dptr address = 0;
            static_cast<void>(hal_device_memory_allocate(backend.get(), backend.device(), size_bytes, &address));
            static_cast<void>(hal_device_memory_deallocate(backend.get(), backend.device(), address, size_bytes));
        }
    });
    contest.peer = PerCall(batch_s, [size_bytes](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            void* data = std::malloc(size_bytes);
            asm volatile("" : : "r"(data) : "memory");
            std::free(data);
        }
    });
    return contest;
}

// Allocates fresh memory and writes every byte; giving it back to the system is not timed.
Contest first_touch(Context& context) {
    static constexpr uint64_t size_bytes = 64 * mib;
    const Backend& backend = context.backend();
    if (!backend.host_accessible()) {
        throw Unavailable("the host cannot write this device memory");
    }
    check(hal_memory_trim(backend.get(), backend.device(), 0), "memory_trim");
    Contest contest;
    contest.note = "device " + DeviceMemory(backend, size_bytes).pages();
    contest.ours = gigabytes_per_second(size_bytes, [&backend] {
        std::unique_ptr<DeviceMemory> memory;
        const int64_t took = timed([&] {
            memory = std::make_unique<DeviceMemory>(backend, size_bytes);
            std::memset(reinterpret_cast<void*>(memory->get()), 0x5a, size_bytes);
        });
        memory.reset();
        check(hal_memory_trim(backend.get(), backend.device(), 0), "memory_trim");
        return static_cast<double>(took);
    });
    contest.peer = gigabytes_per_second(size_bytes, [] {
        void* data = nullptr;
        const int64_t took = timed([&] {
            data = map_untouched(size_bytes, Pages::small);
            std::memset(data, 0x5a, size_bytes);
        });
        unmap(data, size_bytes);
        return static_cast<double>(took);
    });
    return contest;
}

Benchmark copy_row(Direction direction, uint64_t size_bytes) {
    // Above 8 MiB and below 64 MiB there is no goal: caches and DRAM mix there.
    const Goal goal = size_bytes <= 8 * mib    ? Goal{GoalKind::ratio_at_least, 0.95}
                      : size_bytes >= 64 * mib ? Goal{GoalKind::ratio_at_least, 1.3}
                                               : Goal{};
    return {fmt::format("memory/{}-{}", text(direction), size_text(size_bytes)),
            fmt::format("memory_copy_{}", text(direction)),
            "libc memcpy",
            "GB/s",
            Better::higher,
            goal,
            [=](Context& context) { return copy_contest(context, direction, size_bytes, false); }};
}

std::vector<Benchmark> benchmarks(const Settings& settings) {
    const std::vector<uint64_t> sizes =
        settings.quick ? std::vector<uint64_t>{mib, 64 * mib}
                       : std::vector<uint64_t>{64 * kib, 256 * kib, mib, 4 * mib, 8 * mib, 64 * mib, 256 * mib};
    std::vector<Benchmark> list;
    for (const Direction direction : {Direction::h2d, Direction::d2h, Direction::d2d}) {
        list.push_back({fmt::format("memory/{}-4KiB", text(direction)),
                        fmt::format("memory_copy_{}", text(direction)),
                        "libc memcpy",
                        "ns",
                        Better::lower,
                        {GoalKind::excess_at_most, 50},
                        [=](Context& context) { return copy_contest(context, direction, 4 * kib, true); }});
        for (const uint64_t size_bytes : sizes) {
            list.push_back(copy_row(direction, size_bytes));
        }
    }
    for (const uint64_t size_bytes : {4 * kib, mib, 64 * mib}) {
        list.push_back({"memory/set-" + size_text(size_bytes),
                        "device_memory_set",
                        "libc memset",
                        "GB/s",
                        Better::higher,
                        {},
                        [=](Context& context) { return set_contest(context, size_bytes); }});
    }
    for (const uint64_t size_bytes : {4 * kib, mib}) {
        list.push_back({"memory/alloc-free-" + size_text(size_bytes),
                        "allocate and deallocate",
                        "malloc and free",
                        "ns",
                        Better::lower,
                        {GoalKind::value_at_most, 60},
                        [=](Context& context) { return allocate_contest(context, size_bytes); }});
    }
    list.push_back({"memory/first-touch-64MiB",
                    "allocate and write fresh memory",
                    "anonymous 4 KiB pages",
                    "GB/s",
                    Better::higher,
                    {GoalKind::ratio_at_least, 4},
                    first_touch});
    return list;
}

const Registration registration({"memory", "copies, fills, allocation and first touch", benchmarks});

}  // namespace
}  // namespace hal::bench
