// Helpers for vendors who write a back end in C++20: errors as exceptions inside the plug-in, guarded slots, query structs.
// Nothing here needs the loader. REGISTER_KERNEL comes from register.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "hal/register.h"

namespace hal::sdk {

// Thrown inside a plug-in, turned into a status and a text at the boundary.
class Error : public std::exception {
  public:
    Error(hal_status status, std::string text, int64_t vendor_code = 0)
        : status_(status), vendor_code_(vendor_code), text_(std::move(text)) {}

    [[nodiscard]] hal_status status() const noexcept { return status_; }
    [[nodiscard]] int64_t vendor_code() const noexcept { return vendor_code_; }
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

  private:
    hal_status status_;
    int64_t vendor_code_;
    std::string text_;
};

// Returns an error with its text, for code that does not throw.
inline hal_status fail(const hal_host* host, hal_status status, const char* text, int64_t vendor_code = 0) noexcept {
    host->set_error(host, status, vendor_code, text);
    return status;
}

// Turns the exception in flight into a status and sets its text. Call it inside a catch block.
inline hal_status translate_exception(const hal_host* host) noexcept {
    try {
        throw;
    } catch (const Error& error) {
        return fail(host, error.status(), error.what(), error.vendor_code());
    } catch (const std::bad_alloc&) {
        return fail(host, HAL_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    } catch (const std::exception& error) {
        return fail(host, HAL_ERROR_INTERNAL, error.what());
    } catch (...) {
        return fail(host, HAL_ERROR_INTERNAL, "an exception of unknown type reached the boundary");
    }
}

// Runs f; no exception leaves. `host` lends set_error.
template <class F>
hal_status guard(const hal_host* host, F&& f) noexcept {
    try {
        return std::forward<F>(f)();
    } catch (...) {
        return translate_exception(host);
    }
}

// slot<f> is the table entry for `hal_status f(Instance&, args...)`. Instance is the plug-in's class behind hal_instance and
// has `const hal_host* host() const noexcept`; if it also has `hal_status admit() noexcept`, that runs first and an error of
// it is returned (not initialised, forked).
namespace detail {
template <auto Function>
struct Slot;

template <class Instance, class... Args, hal_status (*Function)(Instance&, Args...)>
struct Slot<Function> {
    static hal_status call(hal_instance* self, Args... args) noexcept {
        if (self == nullptr) {
            return HAL_ERROR_INVALID_HANDLE;
        }
        auto& instance = *reinterpret_cast<Instance*>(self);
        if constexpr (requires { instance.admit(); }) {
            if (const hal_status status = instance.admit(); status != HAL_OK) [[unlikely]] {
                return status;
            }
        }
        try {
            return Function(instance, args...);
        } catch (...) {
            return translate_exception(instance.host());
        }
    }
};

template <auto Function>
struct KernelSlot;

template <class Instance, hal_status (*Function)(Instance&, const hal_kernel_call&)>
struct KernelSlot<Function> {
    static hal_status call(const hal_kernel_call* call) noexcept {
        if (call == nullptr || call->instance == nullptr) {
            return HAL_ERROR_INVALID_ARGUMENT;
        }
        auto& instance = *reinterpret_cast<Instance*>(call->instance);
        if constexpr (requires { instance.admit(); }) {
            if (const hal_status status = instance.admit(); status != HAL_OK) [[unlikely]] {
                return status;
            }
        }
        try {
            return Function(instance, *call);
        } catch (...) {
            return translate_exception(instance.host());
        }
    }
};
}  // namespace detail

template <auto Function>
inline constexpr auto slot = &detail::Slot<Function>::call;

// kernel<f> is the hal_kernel_fn for `hal_status f(Instance&, const hal_kernel_call&)`, guarded in the same way.
template <auto Function>
inline constexpr auto kernel = &detail::KernelSlot<Function>::call;

// Throws INVALID_ARGUMENT with the name unless the pointer is there.
template <class T>
T& require(T* pointer, const char* name) {
    if (pointer == nullptr) {
        throw Error(HAL_ERROR_INVALID_ARGUMENT, std::string(name) + " is NULL");
    }
    return *pointer;
}

// Writes a string the way table 1 fixes it: needed size always, text only when it fits.
inline hal_status write_string(std::string_view text, char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) {
    const uint64_t needed = text.size() + 1;
    require(out_size_bytes, "out_size_bytes") = needed;
    if (capacity_bytes < needed) {
        throw Error(HAL_ERROR_BUFFER_TOO_SMALL, "the text needs " + std::to_string(needed) + " bytes with its terminator, " +
                                                    std::to_string(capacity_bytes) + " were given");
    }
    char* const out = &require(buffer, "buffer");
    std::memcpy(out, text.data(), text.size());
    out[text.size()] = '\0';
    return HAL_OK;
}

// Throws UNSUPPORTED for a chained struct that must be understood and whose kind is none of `known`.
inline void check_chain(const hal_header& header, std::initializer_list<uint32_t> known = {}) {
    for (const hal_header* link = header.next; link != nullptr; link = link->next) {
        if ((link->kind & HAL_MUST_UNDERSTAND) != 0 && std::find(known.begin(), known.end(), link->kind) == known.end()) {
            throw Error(HAL_ERROR_UNSUPPORTED, "chained struct of kind " + std::to_string(link->kind) + " is not known here");
        }
    }
}

// Copies a query's answer behind the caller's header, no further than the caller's size. `value.header` is not used.
template <class T>
hal_status write_struct(const T& value, T* out, const char* name) {
    T& target = require(out, name);
    if (target.header.size < sizeof(hal_header)) {
        throw Error(HAL_ERROR_INVALID_ARGUMENT, std::string(name) + ".header.size is " + std::to_string(target.header.size) +
                                                    "; set it to sizeof the struct");
    }
    check_chain(target.header);
    const size_t end = std::min<size_t>(target.header.size, sizeof(T));
    std::memcpy(reinterpret_cast<char*>(out) + sizeof(hal_header), reinterpret_cast<const char*>(&value) + sizeof(hal_header),
                end - sizeof(hal_header));
    return HAL_OK;
}

// The caller's create-struct as ours: what it does not have is zero. NULL gives all zero.
template <class T>
T read_struct(const T* in, const char* name) {
    T value{};
    if (in == nullptr) {
        return value;
    }
    if (in->header.size < sizeof(hal_header)) {
        throw Error(HAL_ERROR_INVALID_ARGUMENT,
                    std::string(name) + ".header.size is " + std::to_string(in->header.size) + "; set it to sizeof the struct");
    }
    check_chain(in->header);
    std::memcpy(static_cast<void*>(&value), in, std::min<size_t>(in->header.size, sizeof(T)));
    return value;
}

// A number for hal_table_header: {sizeof table, id}.
template <class Table>
constexpr hal_table_header header(uint32_t id_major) {
    return {static_cast<uint32_t>(sizeof(Table)), id_major};
}

// An option as text; `fallback` if nobody gave it.
inline std::string option(const hal_host* host, const char* key, std::string fallback) {
    uint64_t size = 0;
    char small[256];
    const hal_status status = host->get_option(host, key, small, sizeof small, &size);
    if (status == HAL_OK) {
        return small;
    }
    if (status != HAL_ERROR_BUFFER_TOO_SMALL) {
        return fallback;
    }
    std::string text(size, '\0');
    if (host->get_option(host, key, text.data(), text.size(), &size) != HAL_OK) {
        return fallback;
    }
    text.resize(size - 1);
    return text;
}

}  // namespace hal::sdk
