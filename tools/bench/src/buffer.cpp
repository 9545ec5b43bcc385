#include "buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace hal::bench {

void fill_noise(void* data, uint64_t size_bytes) {
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    auto* bytes = static_cast<char*>(data);
    for (uint64_t done = 0; done < size_bytes; done += sizeof state) {
        // xorshift64: no library generator fills a gigabyte in a blink.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::memcpy(bytes + done, &state, std::min<uint64_t>(sizeof state, size_bytes - done));
    }
}

void* map_untouched(uint64_t size_bytes, Pages pages) {
    void* data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "mmap");
    }
    // Only a wish: a kernel without transparent huge pages refuses, and the pages are then small.
    madvise(data, size_bytes, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return data;
}

void unmap(void* data, uint64_t size_bytes) {
    munmap(data, size_bytes);
}

Buffer::Buffer(uint64_t size_bytes, Pages pages)
    : data_(static_cast<char*>(map_untouched(size_bytes, pages))), size_bytes_(size_bytes) {
    fill_noise(data_, size_bytes);
}

Buffer::~Buffer() {
    unmap(data_, size_bytes_);
}

}  // namespace hal::bench
