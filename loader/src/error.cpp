#include "export.hpp"

// The rest in the usual order; export.hpp comes before anything that includes loader.h.
#include <algorithm>
#include <cstring>

#include "error.hpp"
#include "hal/sdk.hpp"

namespace hal::loader {

namespace {

// Plain arrays: no destructor at thread exit, no allocation while out of memory, valid until the thread ends.
struct Record {
    hal_status status;
    int64_t vendor_code;
    uint64_t count;
    char backend[72];
    char text[4000];
};
thread_local constinit Record record{};

template <size_t N>
void copy(char (&target)[N], std::string_view source) noexcept {
    // The source may be the record itself: a text that is set again with another status.
    if (source.size() < N) {
        std::memmove(target, source.data(), source.size());
        target[source.size()] = '\0';
        return;
    }
    constexpr std::string_view cut = "...";
    size_t end = N - 1 - cut.size();
    while (end > 0 && (static_cast<unsigned char>(source[end]) & 0xc0u) == 0x80u) {
        --end;  // not inside a UTF-8 character
    }
    std::memmove(target, source.data(), end);
    std::memcpy(target + end, cut.data(), cut.size());
    target[end + cut.size()] = '\0';
}

}  // namespace

hal_status set_error(hal_status status, std::string_view backend, std::string_view text, int64_t vendor_code) noexcept {
    record.status = status;
    record.vendor_code = vendor_code;
    ++record.count;
    copy(record.backend, backend);
    copy(record.text, text);
    return status;
}

uint64_t error_count() noexcept {
    return record.count;
}

LastError last_error() noexcept {
    return {record.status, record.vendor_code, record.backend, record.text};
}

bool known_status(hal_status status) noexcept {
    switch (status) {
#define HAL_STATUS(name, value, text) case name:
#include "hal/status.def"
        return true;
    }
    return false;
}

}  // namespace hal::loader

const char* hal_last_error() {
    return hal::loader::last_error().text;
}

hal_status hal_last_error_info(hal_error_info* out_info) {
    const hal::loader::LastError last = hal::loader::last_error();
    try {
        return hal::sdk::write_struct(
            hal_error_info{
                .status = last.status, .vendor_code = last.vendor_code, .backend = last.backend, .text = last.text},
            out_info, "out_info");
    } catch (const hal::sdk::Error& error) {
        return hal::loader::set_error(error.status(), "", error.what());
    } catch (...) {
        return hal::loader::set_error(HAL_ERROR_OUT_OF_HOST_MEMORY, "", "out of host memory");
    }
}
