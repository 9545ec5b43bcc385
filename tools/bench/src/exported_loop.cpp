// A file of its own: the functions that the loader exports have the names of the inline wrappers.
#define HAL_NO_INLINE
#include "dispatch_loops.hpp"

namespace hal::bench {

[[gnu::noinline, gnu::aligned(64)]] void loop_exported(const NullBackend& backend, uint64_t count) {
    const hal_backend* const head = backend.get();
    hal_dev device;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < count; ++i) {
        static_cast<void>(hal_get_device(head, &device));
    }
}

}  // namespace hal::bench
