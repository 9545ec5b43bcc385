#include "dispatch_loops.hpp"

#include <dlfcn.h>

#include <array>
#include <stdexcept>

#include "paths.hpp"

namespace hal::bench {
namespace {

NullBackend::GetDevice find_symbol() {
    const auto library = parts_directory() / "libhal_bench_null.so";
    // The loader has mapped it already and never unmaps it, so the handle is not kept.
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* symbol = handle == nullptr ? nullptr : dlsym(handle, "hal_bench_get_device");
    if (symbol == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return reinterpret_cast<NullBackend::GetDevice>(symbol);
}

constexpr std::array<Path, 3> paths{{{"dlsym", loop_dlsym}, {"inline", loop_inline}, {"exported", loop_exported}}};

}  // namespace

NullBackend::NullBackend()
    : backend_({(parts_directory() / "bench.null.json").string()}, "bench.null"), get_device_(find_symbol()) {}

std::string NullBackend::note() const {
    return get()->device->get_device == get_device_ ? "" : "the table holds another function: a layer is measured too";
}

std::span<const Path> dispatch_paths() {
    return paths;
}

// Aligned and unrolled alike, so that the loops differ in the call only. Nothing is inlined: the callee is opaque.
[[gnu::noinline, gnu::aligned(64)]] void loop_dlsym(const NullBackend& backend, uint64_t count) {
    const auto get_device = backend.by_dlsym();
    hal_instance* const instance = backend.get()->instance;
    hal_dev device;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < count; ++i) {
        static_cast<void>(get_device(instance, &device));
    }
}

[[gnu::noinline, gnu::aligned(64)]] void loop_inline(const NullBackend& backend, uint64_t count) {
    const hal_backend* const head = backend.get();
    hal_dev device;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < count; ++i) {
        static_cast<void>(hal_get_device(head, &device));
    }
}

}  // namespace hal::bench
