// The limit of an all-reduce of two ranks: both map one memory and add straight out of each other's buffers. It does
// nothing that a library must: no device memory, no streams, no errors, no other operation.
#include <emmintrin.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>
#include <thread>

#include "benchmark.hpp"
#include "rank.hpp"

namespace hal::bench::xccl {
namespace {

constexpr uint64_t buffer_bytes = UINT64_C(64) << 20;
constexpr uint64_t header_bytes = UINT64_C(2) << 20;  // keeps the buffers on the bounds of huge pages
constexpr uint64_t slot_floats = 8;
constexpr uint64_t cached_bytes = UINT64_C(4) << 20;  // larger results are written past the cache

// What a rank has to say; one cache line each.
struct alignas(64) Flag {
    std::atomic<uint32_t> count{0};
};
struct alignas(64) Slot {
    std::atomic<uint32_t> count{0};
    float value[slot_floats];
};
struct Header {
    Flag arrived[2];
    Slot slot[2][2];  // by rank, and in turns: the other may still read the last one
};

// The other rank may already be further.
void wait_for(const std::atomic<uint32_t>& flag, uint32_t count) {
    for (int spins = 0; static_cast<int32_t>(flag.load(std::memory_order_acquire) - count) < 0; ++spins) {
        if (spins > 100'000) {
            std::this_thread::yield();  // it may have lost its core
        }
        _mm_pause();
    }
}

// out[k] = a + b for each of the results; past the cache, or into it. Counts are multiples of 16.
template <bool past_cache, size_t outputs>
void add(const std::array<float*, outputs>& out, const float* a, const float* b, uint64_t count) {
    for (uint64_t i = 0; i < count; i += 4) {
        const __m128 sum = _mm_add_ps(_mm_load_ps(a + i), _mm_load_ps(b + i));
        for (float* result : out) {
            past_cache ? _mm_stream_ps(result + i, sum) : _mm_store_ps(result + i, sum);
        }
    }
    _mm_sfence();
}

std::byte* map_shared(const RankArguments& arguments) {
    const auto file = arguments.directory / "memory";
    constexpr uint64_t size = header_bytes + 4 * buffer_bytes;
    int descriptor = -1;
    if (arguments.rank == 0) {
        descriptor = memfd_create("hal-bench-limit", MFD_CLOEXEC);
        if (descriptor >= 0 && ftruncate(descriptor, size) == 0) {
            write_shared(file, "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor));
        }
    } else {
        descriptor = open(read_shared(file).c_str(), O_RDWR | O_CLOEXEC);
    }
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "memory of the two ranks");
    }
    madvise(memory, size, MADV_HUGEPAGE);
    return static_cast<std::byte*>(memory);
}

class LimitTransport : public Transport {
  public:
    explicit LimitTransport(const RankArguments& arguments) : rank_(static_cast<uint64_t>(arguments.rank)) {
        if (arguments.ranks != 2) {
            throw Unavailable("the limit is that of two ranks");
        }
        memory_ = map_shared(arguments);
        header_ = reinterpret_cast<Header*>(memory_);  // zeros of the kernel are valid flags
    }

    void reserve(const Collective& collective) override {
        if (collective.operation != Operation::all_reduce || collective.bytes > buffer_bytes) {
            throw Unavailable("the limit is that of an all-reduce of at most 64 MiB");
        }
    }
    void write_send(uint64_t first, std::span<const float> data) override {
        std::copy(data.begin(), data.end(), send(rank_) + first);
    }
    void write_receive(uint64_t first, std::span<const float> data) override {
        std::copy(data.begin(), data.end(), receive(rank_) + first);
    }
    void read_receive(uint64_t first, std::span<float> data) override {
        std::copy_n(receive(rank_) + first, data.size(), data.begin());
    }

    void barrier() override {
        const uint32_t count = ++barriers_;
        header_->arrived[rank_].count.store(count, std::memory_order_release);
        wait_for(header_->arrived[1 - rank_].count, count);
    }

    void run(const Collective& collective, uint64_t iterations, bool /*wait_each*/) override {
        const uint64_t count = collective.call_count();
        for (uint64_t i = 0; i < iterations; ++i) {
            if (count <= slot_floats) {
                exchange(count);
            } else {
                barrier();
                reduce_half(count);
                barrier();
            }
        }
    }

  private:
    // A result that fits one line goes with the flag.
    void exchange(uint64_t count) {
        const uint32_t turn = ++exchanges_;
        Slot& mine = header_->slot[rank_][turn % 2];
        const Slot& others = header_->slot[1 - rank_][turn % 2];
        std::copy_n(send(rank_), count, mine.value);
        mine.count.store(turn, std::memory_order_release);
        wait_for(others.count, turn);
        for (uint64_t i = 0; i < count; ++i) {
            receive(rank_)[i] = send(rank_)[i] + others.value[i];
        }
    }

    // Each rank adds one half and writes it to both.
    void reduce_half(uint64_t count) {
        const uint64_t half = count / 2;
        const uint64_t first = rank_ * half;
        const std::array<float*, 2> out{receive(0) + first, receive(1) + first};
        if (count * sizeof(float) > cached_bytes) {
            add<true>(out, send(0) + first, send(1) + first, half);
        } else {
            add<false>(out, send(0) + first, send(1) + first, half);
        }
    }

    [[nodiscard]] float* send(uint64_t rank) const { return buffer(rank); }
    [[nodiscard]] float* receive(uint64_t rank) const { return buffer(2 + rank); }
    [[nodiscard]] float* buffer(uint64_t index) const {
        return reinterpret_cast<float*>(memory_ + header_bytes + index * buffer_bytes);
    }

    uint64_t rank_;
    std::byte* memory_ = nullptr;
    Header* header_ = nullptr;
    uint32_t barriers_ = 0;
    uint32_t exchanges_ = 0;
};

}  // namespace
}  // namespace hal::bench::xccl

int main(int argc, char** argv) {
    return hal::bench::xccl::run_rank<hal::bench::xccl::LimitTransport>("hal-bench-xccl-limit", argc, argv);
}
