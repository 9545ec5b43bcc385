#include "life.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "hal/sdk.hpp"

namespace hal::shared {
namespace {

size_t page_bytes() noexcept {
    return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// A page that reads as zero in a forked child.
void* map_wiped_page(const std::string& backend) {
    void* page = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, std::string("no page for the state: ") + std::strerror(errno),
                         errno);
    }
    if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
        const int error = errno;
        munmap(page, page_bytes());
        throw sdk::Error(HAL_ERROR_UNSUPPORTED,
                         "the kernel has no MADV_WIPEONFORK; " + backend + " needs Linux 4.14 or newer", error);
    }
    return page;
}

}  // namespace

Life::Life(std::string backend)
    : backend_(std::move(backend)),
      state_(new (map_wiped_page(backend_)) std::atomic<State>(State::opened)),
      token_(std::make_shared<char>()) {}

Life::~Life() {
    munmap(static_cast<void*>(state_), page_bytes());
}

hal_status Life::refuse(const hal_host* host) const noexcept {
    const auto say = [&](hal_status status, const char* text) noexcept {
        return sdk::guard(host, [&]() -> hal_status { throw sdk::Error(status, backend_ + text); });
    };
    if (forked()) {
        return say(
            HAL_ERROR_FORKED,
            " was opened by the process that this one was forked off, and its threads are not here; open the back "
            "end in the child, or start the child by spawn");
    }
    return say(HAL_ERROR_NOT_INITIALIZED, " is not initialised: initialize was not called, or the last finalize was");
}

}  // namespace hal::shared
