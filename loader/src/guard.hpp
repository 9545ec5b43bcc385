// The boundary: no exception leaves a C function; the text of one becomes the thread's last error.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "error.hpp"
#include "hal/sdk.hpp"
#include "head.hpp"
#include "opened.hpp"

namespace hal::loader {

// Inside a catch block.
inline hal_status translate_exception(std::string_view backend) noexcept {
    try {
        throw;
    } catch (const sdk::Error& error) {
        return set_error(error.status(), backend, error.what(), error.vendor_code());
    } catch (const std::bad_alloc&) {
        return set_error(HAL_ERROR_OUT_OF_HOST_MEMORY, backend, "out of host memory");
    } catch (const std::exception& error) {
        return set_error(HAL_ERROR_INTERNAL, backend, error.what());
    } catch (...) {
        return set_error(HAL_ERROR_INTERNAL, backend, "an exception of unknown type");
    }
}

// Runs f() of a function of loader.h; `backend` is the id that an error is about, NULL if none.
template <class F>
hal_status guard(F&& f, const char* backend = nullptr) noexcept {
    try {
        return std::forward<F>(f)();
    } catch (...) {
        return translate_exception(backend == nullptr ? "" : backend);
    }
}

// Runs f(Opened&) for an emulated entry.
template <class F>
hal_status guard_emulation(hal_instance* self, F&& f) noexcept {
    Opened* opened = find_opened(self);
    if (opened == nullptr) {
        return set_error(HAL_ERROR_INVALID_HANDLE, "", "the instance belongs to no open backend");
    }
    try {
        return std::forward<F>(f)(*opened);
    } catch (...) {
        return translate_exception(opened->id());
    }
}

}  // namespace hal::loader
