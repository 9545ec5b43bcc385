// Table 2: copies move bits, whatever they mean, and lengths beyond 32 bits.
#include <sys/mman.h>
#include <unistd.h>

#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

// Values that arithmetic or a conversion would change: quiet and signalling NaNs with payloads, -0, the smallest and
// largest denormals, infinities; then every pattern of the two upper bytes.
std::vector<uint8_t> special_values(Test& t) {
    const std::string_view type = t.param("dtype");
    const auto width = static_cast<uint64_t>(type == "f64" ? 8 : type == "f32" ? 4 : type.starts_with("f8") ? 1 : 2);
    const uint64_t mantissa = type == "f64" ? 52 : type == "f32" ? 23 : type == "f16" ? 10 : type == "bf16" ? 7 : 3;
    const uint64_t sign = uint64_t{1} << (8 * width - 1);
    const uint64_t fraction = (uint64_t{1} << mantissa) - 1;
    const uint64_t infinity = (sign - 1) & ~fraction;
    std::vector<uint64_t> values{sign, 1, fraction, sign | 1, sign | fraction, infinity, sign | infinity};
    for (uint64_t payload = 1; payload <= fraction; payload = payload * 2 + 1) {
        values.push_back(infinity | payload);         // signalling where the upper bit of the fraction is clear
        values.push_back(sign | infinity | payload);  // quiet at the end of the loop
    }
    for (uint64_t upper = 0; upper < (width == 1 ? 256 : 65'536); upper += width == 1 ? 1 : 7) {
        values.push_back(width == 1 ? upper : (upper << (8 * (width - 2))) | (upper & 1U));
    }
    std::vector<uint8_t> bytes;
    for (const uint64_t value : values) {
        for (uint64_t i = 0; i < width; ++i) {
            bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
        }
    }
    return bytes;
}

over dtypes() {
    return {"dtype", {"f64", "f32", "f16", "bf16", "f8e4m3fn", "f8e5m2"}};
}

HAL_CASE("45079.T2.memory_copy_h2d.norm.bitwise", clauses{"45079/T2.7"}, authority::D,
         needs{E::memory_copy_h2d, memory_io()}, dtypes())
(Test& t) {
    const auto bytes = special_values(t);
    const DeviceBuffer& to = t.device(bytes.size());
    t.ok(t.api.memory_copy_h2d(0, to.ptr, bytes.data(), bytes.size()));
    ReadBack(t, 0, to.ptr, bytes.size()).expect(t, bytes.data(), "every bit, whatever it means");
}

HAL_CASE("45079.T2.memory_copy_d2h.norm.bitwise", clauses{"45079/T2.8"}, authority::D,
         needs{E::memory_copy_d2h, memory_io()}, dtypes())
(Test& t) {
    const auto bytes = special_values(t);
    const DeviceBuffer& from = t.device(bytes.size());
    t.ok(t.api.memory_copy_h2d(0, from.ptr, bytes.data(), bytes.size()));
    const HostBuffer back(bytes.size());
    t.ok(t.api.memory_copy_d2h(0, back.data(), from.ptr, bytes.size()));
    t.check(std::memcmp(back.data(), bytes.data(), bytes.size()) == 0, "every bit, whatever it means");
}

HAL_CASE("45079.T2.memory_copy_d2d.norm.bitwise", clauses{"45079/T2.9"}, authority::D,
         needs{E::memory_copy_d2d, memory_io()}, dtypes())
(Test& t) {
    const auto bytes = special_values(t);
    const DeviceBuffer& from = t.device(bytes.size());
    const DeviceBuffer& to = t.device(bytes.size());
    t.ok(t.api.memory_copy_h2d(0, from.ptr, bytes.data(), bytes.size()));
    t.ok(t.api.memory_copy_d2d(0, to.ptr, from.ptr, bytes.size()));
    ReadBack(t, 0, to.ptr, bytes.size()).expect(t, bytes.data(), "every bit, whatever it means");
}

// ---- Lengths beyond 2^31 and 2^32 ----

// A long run of host memory that takes little of it: one block of pages, mapped again and again. The length of the
// block divides no power of two, so that a length cut to 31 or 32 bits shows.
class Repeated {
  public:
    Repeated(const Pattern& pattern, uint64_t size) {
        const int file = memfd_create("hal_conformance", MFD_CLOEXEC);
        mapped_ = (size + block - 1) / block * block;
        void* base = file < 0 || ftruncate(file, block) != 0
                         ? MAP_FAILED
                         : mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) {
            throw HarnessError("no address space for a large copy");
        }
        base_ = static_cast<uint8_t*>(base);
        for (uint64_t at = 0; at < mapped_; at += block) {
            if (mmap(base_ + at, block, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
                throw HarnessError("no mappings for a large copy");
            }
        }
        close(file);
        pattern.write(base_, block);
    }
    ~Repeated() { munmap(base_, mapped_); }
    Repeated(const Repeated&) = delete;
    Repeated& operator=(const Repeated&) = delete;

    static constexpr uint64_t block = (16U << 20U) + 4096;
    [[nodiscard]] uint8_t* data() const { return base_; }

  private:
    uint64_t mapped_;
    uint8_t* base_;
};

uint64_t big_size(const Test& t) {
    return (t.param("size") == "2gi" ? uint64_t{1} << 31U : uint64_t{1} << 32U) + 4097;
}

over big_sizes(uint32_t copies) {
    return {"size", {Value("2gi", {device_memory(copies * 2100U)}), Value("4gi", {device_memory(copies * 4200U)})}};
}

class BigBlock {
  public:
    BigBlock(Test& t, uint64_t size) : test_(t), size_(size) {
        t.ok(t.api.device_memory_allocate(0, size + 1, &ptr_), "a block of more than 2 GiB");
    }
    ~BigBlock() {
        if (ptr_ != 0) {
            test_.ok(test_.api.device_memory_deallocate(0, ptr_, size_ + 1));
        }
    }
    BigBlock(const BigBlock&) = delete;
    BigBlock& operator=(const BigBlock&) = delete;
    [[nodiscard]] hal_dptr ptr() const { return ptr_; }

    // Every byte against the repeated block, read in pieces, and the byte behind the end against `after`.
    void expect(const Repeated& expected, uint8_t after) const {
        const HostBuffer piece(Repeated::block);
        for (uint64_t at = 0; at < size_; at += Repeated::block) {
            const uint64_t part = std::min(size_ - at, Repeated::block);
            test_.ok(test_.api.memory_copy_d2h(0, piece.data(), ptr_ + at, part));
            if (!test_.check(std::memcmp(piece.data(), expected.data(), part) == 0,
                             "every byte of the piece at " + std::to_string(at))) {
                return;
            }
        }
        uint8_t last = 0;
        test_.ok(test_.api.memory_copy_d2h(0, &last, ptr_ + size_, 1));
        test_.eq(static_cast<int>(after), static_cast<int>(last), "the byte behind the end");
    }
    void mark_end(uint8_t value) const { test_.ok(test_.api.memory_copy_h2d(0, ptr_ + size_, &value, 1)); }

  private:
    Test& test_;
    uint64_t size_;
    hal_dptr ptr_ = 0;
};

HAL_CASE("45079.T2.memory_copy_h2d.norm.big", clauses{"45079/T2.7"}, authority::D,
         needs{E::memory_copy_h2d, memory_io()}, cls::long_, exclusive, big_sizes(1))
(Test& t) {
    const uint64_t size = big_size(t);
    const Repeated source(t.pattern(), size);
    if (const BigBlock to(t, size); to.ptr() != 0) {
        to.mark_end(poison);
        t.ok(t.api.memory_copy_h2d(0, to.ptr(), source.data(), size));
        to.expect(source, poison);
    }
}

HAL_CASE("45079.T2.memory_copy_d2h.norm.big", clauses{"45079/T2.8"}, authority::D,
         needs{E::memory_copy_d2h, memory_io()}, cls::long_, exclusive, big_sizes(2))
(Test& t) {
    const uint64_t size = big_size(t);
    const Repeated source(t.pattern(), size);
    if (const BigBlock from(t, size); from.ptr() != 0) {
        t.ok(t.api.memory_copy_h2d(0, from.ptr(), source.data(), size));
        std::vector<uint8_t> back(size + 1, poison);
        t.ok(t.api.memory_copy_d2h(0, back.data(), from.ptr(), size));
        t.check(std::memcmp(back.data(), source.data(), size) == 0, "every byte");
        t.eq(static_cast<int>(poison), static_cast<int>(back[size]), "the byte behind the end");
    }
}

HAL_CASE("45079.T2.memory_copy_d2d.norm.big", clauses{"45079/T2.9"}, authority::D,
         needs{E::memory_copy_d2d, memory_io()}, cls::long_, exclusive, big_sizes(2))
(Test& t) {
    const uint64_t size = big_size(t);
    const Repeated source(t.pattern(), size);
    const BigBlock from(t, size);
    const BigBlock to(t, size);
    if (from.ptr() != 0 && to.ptr() != 0) {
        t.ok(t.api.memory_copy_h2d(0, from.ptr(), source.data(), size));
        to.mark_end(poison);
        t.ok(t.api.memory_copy_d2d(0, to.ptr(), from.ptr(), size));
        to.expect(source, poison);
    }
}

HAL_CASE("45079.T2.memory_copy_p2p.norm.big", clauses{"45079/T2.10"}, authority::D,
         needs{E::memory_copy_p2p, memory_io(), devices(2)}, cls::long_, exclusive, big_sizes(1))
(Test& t) {
    const uint64_t size = big_size(t);
    const Repeated source(t.pattern(), size);
    hal_dptr from = 0;
    if (!t.ok(t.api.device_memory_allocate(1, size, &from))) {
        return;
    }
    {
        const BigBlock to(t, size);
        t.ok(t.api.memory_copy_h2d(1, from, source.data(), size));
        to.mark_end(poison);
        t.ok(t.api.memory_copy_p2p(0, to.ptr(), 1, from, size));
        to.expect(source, poison);
    }
    t.ok(t.api.device_memory_deallocate(1, from, size));
}

HAL_CASE("45079.T2.device_memory_set.norm.big", clauses{"45079/T2.15"}, authority::D,
         needs{E::device_memory_set, memory_io()}, cls::long_, exclusive, big_sizes(1))
(Test& t) {
    const uint64_t size = big_size(t);
    const BigBlock to(t, size);
    to.mark_end(poison);
    t.ok(t.api.device_memory_set(0, to.ptr(), 0x6BU, size));
    const HostBuffer piece(Repeated::block);
    for (uint64_t at = 0; at < size; at += Repeated::block) {
        const uint64_t part = std::min(size - at, Repeated::block);
        t.ok(t.api.memory_copy_d2h(0, piece.data(), to.ptr() + at, part));
        if (!t.check(!compare(piece.data(), uint8_t{0x6B}, part), "every byte of the piece")) {
            return;
        }
    }
    uint8_t last = 0;
    t.ok(t.api.memory_copy_d2h(0, &last, to.ptr() + size, 1));
    t.eq(static_cast<int>(poison), static_cast<int>(last), "the byte behind the end");
}

// Gigabytes take longer than anything else may.
void wait_long(Test& t) {
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
}

#define BIG_ASYNC(row, entry, copies, call, ...)                                                      \
    HAL_CASE("45079.T2." #entry ".norm.big", clauses{"45079/T2." #row}, authority::D,                 \
             needs{E::entry, E::synchronize_device, memory_io(), __VA_ARGS__}, cls::long_, exclusive, \
             big_sizes(copies))                                                                       \
    (Test & t) {                                                                                      \
        const uint64_t size = big_size(t);                                                            \
        const hal_stream s = t.stream();                                                              \
        const Repeated source(t.pattern(), size);                                                     \
        call;                                                                                         \
    }

BIG_ASYNC(11, async_memory_copy_h2d, 1, {
    const BigBlock to(t, size);
    to.mark_end(poison);
    t.ok(t.api.async_memory_copy_h2d(0, s, to.ptr(), source.data(), size));
    wait_long(t);
    to.expect(source, poison);
})
BIG_ASYNC(12, async_memory_copy_d2h, 2, {
    const BigBlock from(t, size);
    std::vector<uint8_t> back(size + 1, poison);
    t.ok(t.api.memory_copy_h2d(0, from.ptr(), source.data(), size));
    t.ok(t.api.async_memory_copy_d2h(0, s, back.data(), from.ptr(), size));
    wait_long(t);
    t.check(std::memcmp(back.data(), source.data(), size) == 0, "every byte");
    t.eq(static_cast<int>(poison), static_cast<int>(back[size]), "the byte behind the end");
})
BIG_ASYNC(13, async_memory_copy_d2d, 2, {
    const BigBlock from(t, size);
    const BigBlock to(t, size);
    t.ok(t.api.memory_copy_h2d(0, from.ptr(), source.data(), size));
    to.mark_end(poison);
    t.ok(t.api.async_memory_copy_d2d(0, s, to.ptr(), from.ptr(), size));
    wait_long(t);
    to.expect(source, poison);
})

}  // namespace
}  // namespace hal::conformance
