// Starts, finds a device through the loader and ends; prints how long the steps took.
//   hal-bench-device open MANIFEST...           only describes the back ends
//   hal-bench-device device ID [MANIFEST...]    opens one and counts its devices; without MANIFEST by the loader's
//   search hal-bench-device dlopen LIBRARY             the system's share of opening
// Prints "<step> <nanoseconds>" lines. Exit code 1 with a reason if a step fails.
#include <dlfcn.h>
#include <time.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "hal/hal.h"

namespace {

int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1'000'000'000) + now.tv_nsec;
}

int fail(const char* step, const char* text) {
    std::fprintf(stderr, "hal-bench-device: %s: %s\n", step, text);
    return 1;
}

int open_library(const char* library) {
    const int64_t start = now_ns();
    if (dlopen(library, RTLD_NOW | RTLD_LOCAL) == nullptr) {
        return fail("dlopen", dlerror());
    }
    std::printf("dlopen %" PRId64 "\n", now_ns() - start);
    return 0;
}

int open_backend(hal_loader* loader, const char* id) {
    const int64_t start = now_ns();
    const hal_backend* backend = nullptr;
    int32_t count = 0;
    if (hal_backend_open(loader, id, &backend) != HAL_OK) {
        return fail("hal_backend_open", hal_last_error());
    }
    if (hal_get_device_count(backend, &count) != HAL_OK || count < 1) {
        return fail("get_device_count", "no device");
    }
    std::printf("load %" PRId64 "\n", now_ns() - start);
    return 0;
}

int describe(const char* id, const char* const* manifests, uint64_t manifest_count) {
    hal_loader_desc desc{.header = {sizeof desc, 0, nullptr}};
    desc.manifest_paths = manifests;
    desc.manifest_path_count = manifest_count;
    const int64_t start = now_ns();
    hal_loader* loader = nullptr;
    if (hal_loader_open(&desc, &loader) != HAL_OK) {
        return fail("hal_loader_open", hal_last_error());
    }
    std::printf("open %" PRId64 "\n", now_ns() - start);
    const int result = id == nullptr ? 0 : open_backend(loader, id);
    const hal_status closed = hal_loader_close(loader);
    return result != 0 || closed != HAL_OK ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
    if (std::strcmp(mode, "dlopen") == 0 && argc == 3) {
        return open_library(argv[2]);
    }
    if (std::strcmp(mode, "open") == 0 && argc > 2) {
        return describe(nullptr, argv + 2, static_cast<uint64_t>(argc - 2));
    }
    if (std::strcmp(mode, "device") == 0 && argc > 2) {
        return describe(argv[2], argv + 3, static_cast<uint64_t>(argc - 3));
    }
    return fail("usage", "open MANIFEST... | device ID [MANIFEST...] | dlopen LIBRARY");
}
