// Replaces the operators new and delete of a test program, so that the Nth allocation of a thread can fail. The
// loader's library takes these too, because it imports them like every C++ library.
#include "failing_new.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

thread_local constinit int64_t allocations_left = -1;

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
    if (allocations_left == 0) {
        throw std::bad_alloc();
    }
    allocations_left -= allocations_left > 0 ? 1 : 0;
    void* memory = alignment > alignof(std::max_align_t)
                       ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                       : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void* allocate_or_null(std::size_t size) noexcept {
    try {
        return allocate(size, 1);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

}  // namespace

// All forms: a sanitizer's own would otherwise stand behind those that are left out.
#define EVERY_FORM(suffix)                                                              \
    void* operator new suffix(std::size_t size) {                                       \
        return allocate(size, 1);                                                       \
    }                                                                                   \
    void* operator new suffix(std::size_t size, std::align_val_t alignment) {           \
        return allocate(size, static_cast<std::size_t>(alignment));                     \
    }                                                                                   \
    void* operator new suffix(std::size_t size, const std::nothrow_t&) noexcept {       \
        return allocate_or_null(size);                                                  \
    }                                                                                   \
    void operator delete suffix(void* memory) noexcept {                                \
        std::free(memory);                                                              \
    }                                                                                   \
    void operator delete suffix(void* memory, std::size_t) noexcept {                   \
        std::free(memory);                                                              \
    }                                                                                   \
    void operator delete suffix(void* memory, std::align_val_t) noexcept {              \
        std::free(memory);                                                              \
    }                                                                                   \
    void operator delete suffix(void* memory, std::size_t, std::align_val_t) noexcept { \
        std::free(memory);                                                              \
    }                                                                                   \
    void operator delete suffix(void* memory, const std::nothrow_t&) noexcept {         \
        std::free(memory);                                                              \
    }
#define NO_SUFFIX
EVERY_FORM(NO_SUFFIX)
EVERY_FORM([])
#undef NO_SUFFIX
#undef EVERY_FORM
