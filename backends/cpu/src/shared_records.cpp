#include "shared_records.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "foreign_file.hpp"
#include "hal/sdk.hpp"

namespace hal::cpu {

struct SharedRecords::Page {
    // A record keeps its place until the one that is `places` younger needs it, so this many may be pending at once.
    static constexpr uint64_t places = 160;
    struct Place {
        std::atomic<uint64_t> begun;      // newest record here
        std::atomic<uint64_t> completed;  // newest complete one
        std::atomic<int32_t> status;      // of `completed`
        std::atomic<int32_t> process;     // that began `begun`
    };

    std::array<uint64_t, 2> cookie;  // in the handle too, so a file descriptor that was reused is found out
    std::atomic<uint64_t> latest;
    std::atomic<uint32_t> wakes;  // futex
    std::atomic<uint32_t>
        waiters;  // a process that dies while it waits leaves one behind: costs a system call a record
    std::array<Place, places> records;

    Place& place(uint64_t number) noexcept { return records[number % places]; }
};

namespace {

constexpr size_t file_bytes = 4096;
// While it waits a process looks this often whether the recording one still lives.
constexpr uint64_t look_ns = 50'000'000;

struct Handle {
    std::array<char, 8> kind;
    int32_t process;
    int32_t file;
    std::array<uint64_t, 2> cookie;
    std::array<uint8_t, 32> zero;
};
static_assert(sizeof(Handle) == sizeof(hal_ipc_handle));
constexpr std::array<char, 8> handle_kind = {'H', 'A', 'L', 'c', 'p', 'u', 'E', '1'};

[[noreturn]] void fail_system(hal_status status, const std::string& what) {
    const int error = errno;
    throw sdk::Error(status, what + ": " + std::strerror(error), error);
}

void* map(int file) {
    void* page = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        fail_system(HAL_ERROR_OUT_OF_RESOURCES, "cannot map the page of a shared event");
    }
    return page;
}

// True for a zombie too, which kill(process, 0) would take for living.
bool has_ended(int32_t process) noexcept {
    const File file(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
    if (file.get() < 0) {
        return errno == ESRCH;
    }
    pollfd ended{.fd = file.get(), .events = POLLIN, .revents = 0};
    return poll(&ended, 1, 0) == 1;
}

// Sealed against a change of size, or reading it could raise SIGBUS.
bool is_event_file(int file) noexcept {
    struct stat info {};
    const int seals = fcntl(file, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(file, &info) == 0 && info.st_size == file_bytes;
}

}  // namespace

std::shared_ptr<SharedRecords> SharedRecords::create() {
    static_assert(sizeof(Page) <= file_bytes);
    File file(memfd_create("hal-event", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file.get() < 0 || ftruncate(file.get(), file_bytes) != 0 ||
        fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        fail_system(HAL_ERROR_OUT_OF_RESOURCES, "cannot make the page of a shared event");
    }
    auto* page = new (map(file.get())) Page{};
    if (getrandom(page->cookie.data(), sizeof page->cookie, 0) != sizeof page->cookie) {
        page->cookie = {now_ns(), static_cast<uint64_t>(getpid())};
    }
    return std::shared_ptr<SharedRecords>(new SharedRecords(file.release(), page));
}

std::shared_ptr<SharedRecords> SharedRecords::open(const hal_ipc_handle& bytes) {
    Handle handle;
    std::memcpy(&handle, &bytes, sizeof handle);
    if (handle.kind != handle_kind || handle.process <= 0 || handle.file < 0 ||
        handle.zero != decltype(handle.zero){}) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "handle was not made by event_ipc_export of cpu.ref");
    }
    File file = open_foreign(handle.process, handle.file, "the event");
    const char* const gone = "the event of that handle has been destroyed";
    if (!is_event_file(file.get())) {
        throw sdk::Error(HAL_ERROR_NOT_FOUND, gone);
    }
    std::shared_ptr<SharedRecords> records(new SharedRecords(-1, static_cast<Page*>(map(file.get()))));
    if (records->page_->cookie != handle.cookie) {
        throw sdk::Error(HAL_ERROR_NOT_FOUND, gone);
    }
    records->file_ = file.release();
    return records;
}

hal_ipc_handle SharedRecords::handle() const noexcept {
    const Handle handle{.kind = handle_kind, .process = getpid(), .file = file_, .cookie = page_->cookie, .zero = {}};
    hal_ipc_handle bytes;
    std::memcpy(&bytes, &handle, sizeof bytes);
    return bytes;
}

SharedRecords::~SharedRecords() {
    munmap(page_, file_bytes);
    if (file_ >= 0) {
        close(file_);
    }
}

uint64_t SharedRecords::begin() {
    uint64_t before = page_->latest.load();
    for (;;) {
        const uint64_t number = before + 1;
        Page::Place& place = page_->place(number);
        if (place.completed.load() + Page::places < number) {
            throw sdk::Error(HAL_ERROR_BUSY, std::to_string(Page::places) +
                                                 " records of this shared event are pending; wait for some first");
        }
        if (page_->latest.compare_exchange_weak(before, number)) {
            place.process.store(getpid());
            place.begun.store(number);
            return number;
        }
    }
}

void SharedRecords::complete(uint64_t number, hal_status status) noexcept {
    Page::Place& place = page_->place(number);
    place.status.store(status);
    place.completed.store(number);
    if (page_->waiters.load() != 0) {
        page_->wakes.fetch_add(1);
        futex_wake(page_->wakes, INT_MAX, true);
    }
}

uint64_t SharedRecords::latest() const noexcept {
    return page_->latest.load();
}

bool SharedRecords::reached(uint64_t number) const noexcept {
    return number == 0 || page_->place(number).completed.load() >= number;
}

hal_status SharedRecords::outcome(uint64_t number) const noexcept {
    const Page::Place& place = page_->place(number);
    return number != 0 && place.completed.load() == number ? static_cast<hal_status>(place.status.load()) : HAL_OK;
}

hal_status SharedRecords::wait_until(uint64_t number, Deadline deadline,
                                     const std::function<bool()>& give_up) noexcept {
    Page::Place& place = page_->place(number);
    hal_status status = HAL_OK;
    page_->waiters.fetch_add(1);
    while (!reached(number)) {
        const uint32_t wakes = page_->wakes.load();
        if (reached(number)) {
            break;
        }
        if (deadline.passed()) {
            status = HAL_ERROR_TIMEOUT;
        } else if (give_up()) {
            status = HAL_ERROR_CANCELLED;
        } else if (place.begun.load() == number && has_ended(place.process.load())) {
            status = reached(number) ? HAL_OK : HAL_ERROR_REMOTE;
        }
        if (status != HAL_OK) {
            break;
        }
        const Deadline look = Deadline::after(look_ns);
        futex_wait(page_->wakes, wakes, look.at_ns() < deadline.at_ns() ? look : deadline, true);
    }
    page_->waiters.fetch_sub(1);
    return status;
}

}  // namespace hal::cpu
