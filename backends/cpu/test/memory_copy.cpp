// Copies at page ends, of all small sizes and offsets, overlapping, and around the streaming threshold.
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "copy.hpp"

namespace hal::cpu {
namespace {

// Bytes that end where an unmapped page begins, and begin where one ends.
class Guarded {
  public:
    explicit Guarded(uint64_t pages) : bytes_(pages * page()) {
        auto* all = static_cast<uint8_t*>(
            mmap(nullptr, bytes_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        REQUIRE(all != MAP_FAILED);
        begin_ = all + page();
        REQUIRE(mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) == 0);
    }
    ~Guarded() { munmap(begin_ - page(), bytes_ + 2 * page()); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    static uint64_t page() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }
    [[nodiscard]] uint8_t* begin() const { return begin_; }
    [[nodiscard]] uint8_t* end() const { return begin_ + bytes_; }
    void fill_random(uint64_t seed) const {
        std::mt19937_64 random(seed);
        for (uint64_t i = 0; i + 8 <= bytes_; i += 8) {
            const uint64_t value = random();
            std::memcpy(begin_ + i, &value, 8);
        }
    }
    void protect(int rights) const { REQUIRE(mprotect(begin_, bytes_, rights) == 0); }

  private:
    uint64_t bytes_;
    uint8_t* begin_ = nullptr;
};

TEST_CASE("every small size at both ends of the mapped pages") {
    const Guarded src(2);
    const Guarded dst(2);
    src.fill_random(1);
    src.protect(PROT_READ);
    for (uint64_t bytes = 0; bytes <= 300; ++bytes) {
        for (const bool at_end : {false, true}) {
            const uint8_t* from = at_end ? src.end() - bytes : src.begin();
            uint8_t* to = at_end ? dst.end() - bytes : dst.begin();
            std::memset(dst.begin(), 0xee, 2 * Guarded::page());
            copy_bytes(to, from, bytes);
            REQUIRE(std::memcmp(to, from, bytes) == 0);
            const uint8_t* outside = at_end ? to - 1 : to + bytes;
            REQUIRE(*outside == 0xee);
        }
    }
}

TEST_CASE("no bytes, no pointers") {
    copy_bytes(nullptr, nullptr, 0);
    copy_rows({});
    SUCCEED();
}

TEST_CASE("streaming copies of every alignment touch exactly their range") {
    constexpr uint64_t spare = 256;
    const uint64_t pages = (streaming_copy_bytes + 2 * spare) / Guarded::page() + 1;
    const Guarded src(pages);
    const Guarded dst(pages);
    src.fill_random(2);
    src.protect(PROT_READ);
    std::mt19937_64 random(3);
    for (uint64_t turn = 0; turn < 24; ++turn) {
        // Sizes around the threshold; the last bytes of both pages, with random beginnings.
        const uint64_t bytes = streaming_copy_bytes - 3 + turn + random() % 130;
        const uint64_t src_gap = turn % 2 == 0 ? 0 : random() % 128;
        const uint64_t dst_gap = turn % 3 == 0 ? 0 : random() % 128;
        const uint8_t* from = src.end() - src_gap - bytes;
        uint8_t* to = dst.end() - dst_gap - bytes;
        std::memset(to - 64, 0xee, 64);
        std::memset(dst.end() - dst_gap, 0xee, dst_gap);
        copy_bytes(to, from, bytes);
        REQUIRE(std::memcmp(to, from, bytes) == 0);
        for (int i = 1; i <= 64; ++i) {
            REQUIRE(to[-i] == 0xee);
        }
        for (uint64_t i = 0; i < dst_gap; ++i) {
            REQUIRE(to[bytes + i] == 0xee);
        }
    }
    copy_bytes(dst.begin(), src.begin(), pages * Guarded::page());
    REQUIRE(std::memcmp(dst.begin(), src.begin(), pages * Guarded::page()) == 0);
}

TEST_CASE("overlapping ranges behave as memmove, small and streaming") {
    for (const uint64_t bytes : {uint64_t{1000}, streaming_copy_bytes + 77}) {
        for (const int64_t shift : {-4096, -129, -64, -1, 0, 1, 63, 128, 5000}) {
            std::vector<uint8_t> actual(bytes + 2 * 5000);
            std::mt19937_64 random(4);
            for (uint64_t i = 0; i + 8 <= actual.size(); i += 8) {
                const uint64_t value = random();
                std::memcpy(&actual[i], &value, 8);
            }
            std::vector<uint8_t> expected = actual;
            std::memmove(&expected[5000] + shift, &expected[5000], bytes);
            copy_bytes(&actual[5000] + shift, &actual[5000], bytes);
            INFO(bytes << " bytes by " << shift);
            REQUIRE(actual == expected);
        }
    }
}

TEST_CASE("rows go to their places and nowhere else") {
    constexpr uint64_t rows = 7;
    const std::vector<uint64_t> widths = {1, 3, 64, 100};
    for (const uint64_t width : widths) {
        for (const uint64_t dst_pitch : {width, width + 1, width + 29}) {
            for (const uint64_t src_pitch : {width, width + 13}) {
                std::vector<uint8_t> src(rows * src_pitch);
                for (size_t i = 0; i < src.size(); ++i) {
                    src[i] = static_cast<uint8_t>(i * 37 + 1);
                }
                std::vector<uint8_t> dst(rows * dst_pitch, 0xee);
                std::vector<uint8_t> expected = dst;
                for (uint64_t row = 0; row < rows; ++row) {
                    std::memcpy(&expected[row * dst_pitch], &src[row * src_pitch], width);
                }
                copy_rows({dst.data(), dst_pitch, src.data(), src_pitch, width, rows});
                REQUIRE(dst == expected);
            }
        }
    }
}

TEST_CASE("rows of one pitch may overlap their source") {
    constexpr uint64_t pitch = 50;
    constexpr uint64_t width = 40;
    constexpr uint64_t rows = 6;
    for (const int64_t shift : {-51, -50, -3, 3, 50, 51}) {
        std::vector<uint8_t> actual(rows * pitch + 200);
        for (size_t i = 0; i < actual.size(); ++i) {
            actual[i] = static_cast<uint8_t>(i);
        }
        std::vector<uint8_t> expected = actual;
        for (uint64_t row = 0; row < rows; ++row) {
            std::memcpy(&expected[100 + row * pitch] + shift, &actual[100 + row * pitch], width);
        }
        copy_rows({&actual[100] + shift, pitch, &actual[100], pitch, width, rows});
        REQUIRE(actual == expected);
    }
}

}  // namespace
}  // namespace hal::cpu
