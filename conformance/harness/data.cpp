#include "data.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "api.hpp"

namespace hal::conformance {
namespace {

template <class Expected>
std::optional<Mismatch> compare_each(const void* got, uint64_t size, Expected expected) {
    const auto* bytes = static_cast<const uint8_t*>(got);
    std::optional<Mismatch> result;
    for (uint64_t i = 0; i < size; ++i) {
        const uint8_t want = expected(i);
        if (bytes[i] != want) {
            if (!result) {
                result = Mismatch{i, want, bytes[i], 0};
            }
            ++result->count;
        }
    }
    return result;
}

std::string hex(uint8_t value) {
    static constexpr char digits[] = "0123456789abcdef";
    return {'0', 'x', digits[value >> 4U], digits[value & 15U]};
}

}  // namespace

void Pattern::write(void* target, uint64_t size, uint64_t first) const {
    auto* bytes = static_cast<uint8_t*>(target);
    for (uint64_t i = 0; i < size; ++i) {
        bytes[i] = at(first + i);
    }
}

std::optional<Mismatch> compare(const void* got, const Pattern& expected, uint64_t size, uint64_t first) {
    return compare_each(got, size, [&](uint64_t i) { return expected.at(first + i); });
}

std::optional<Mismatch> compare(const void* got, uint8_t expected, uint64_t size) {
    return compare_each(got, size, [&](uint64_t) { return expected; });
}

std::string to_string(const Mismatch& mismatch) {
    return "byte " + std::to_string(mismatch.first) + " is " + hex(mismatch.got) + " (" +
           std::to_string(mismatch.count) + " bytes differ)";
}

bool valid_text(std::string_view text, bool lines) {
    for (size_t i = 0; i < text.size();) {
        const auto lead = static_cast<uint8_t>(text[i]);
        const size_t length = lead < 0x80          ? 1
                              : (lead >> 5U) == 6  ? 2
                              : (lead >> 4U) == 14 ? 3
                              : (lead >> 3U) == 30 ? 4
                                                   : 0;
        const bool control = (lead < 0x20 && !(lines && (lead == '\n' || lead == '\t'))) || lead == 0x7F;
        if (length == 0 || i + length > text.size() || control) {
            return false;
        }
        for (size_t k = 1; k < length; ++k) {
            if ((static_cast<uint8_t>(text[i + k]) & 0xC0U) != 0x80) {
                return false;
            }
        }
        i += length;
    }
    return true;
}

HostBuffer::HostBuffer(uint64_t size) : size_(size), storage_(std::make_unique<uint8_t[]>(size + 2 * guard_bytes)) {
    std::memset(storage_.get(), guard, size + 2 * guard_bytes);
    repoison();
}

bool HostBuffer::guards_intact() const {
    return !compare(storage_.get(), guard, guard_bytes) && !compare(data() + size_, guard, guard_bytes);
}

PageEnd::PageEnd(uint64_t size) : size_(size), page_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {
    const uint64_t inner = (size + page_ - 1) / page_ * page_;
    mapped_ = inner + 2 * page_;
    void* base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(static_cast<uint8_t*>(base) + page_, inner, PROT_READ | PROT_WRITE) != 0) {
        throw HarnessError("no memory for guard pages");
    }
    base_ = static_cast<uint8_t*>(base);
    std::memset(base_ + page_, poison, inner);
}

PageEnd::~PageEnd() {
    munmap(base_, mapped_);
}

uint8_t* PageEnd::at_end() const {
    return base_ + mapped_ - page_ - size_;
}
uint8_t* PageEnd::at_begin() const {
    return base_ + page_;
}

void PageEnd::make_read_only() const {
    if (mprotect(base_ + page_, mapped_ - 2 * page_, PROT_READ) != 0) {
        throw HarnessError("mprotect refuses a read-only page");
    }
}

}  // namespace hal::conformance
