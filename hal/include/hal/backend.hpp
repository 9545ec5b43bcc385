// Backend and Device: views of what a Loader opened. They own nothing, are copied freely, and are valid until the
// Loader is closed. Any thread may use them.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "hal/result.hpp"

namespace hal {

// Every entry of the tables as a member function of its name: one load and one indirect call, as hal_<entry> of hal.h.
// Ownership, units and errors of each entry stand in tables/*.def. A default-made view has no back end: calling it is
// undefined.
class Backend {
  public:
    constexpr Backend() noexcept = default;
    constexpr explicit Backend(const hal_backend* head) noexcept : head_(head) {}

    [[nodiscard]] constexpr const hal_backend* get() const noexcept { return head_; }
    constexpr explicit operator bool() const noexcept { return head_ != nullptr; }

    // HAL_SUPPORT_NATIVE, EMULATED or ABSENT; NOT_FOUND for a name that is none.
    [[nodiscard]] Result<uint32_t> support(const char* entry) const noexcept {
        uint32_t support = HAL_SUPPORT_ABSENT;
        const hal_status status = hal_entry_support(head_, entry, &support);
        return status == HAL_OK ? Result<uint32_t>(support) : Result<uint32_t>(status);
    }

// As HAL_PARAMS, without the comma in front of the first parameter.
#define HAL_FIRST_PARAM(type, name) type name HAL_PARAM_1
#define HAL_FIRST_PARAM_END
#define HAL_FN(table, entry, need, clause, since, effect, params)          \
    hal_status entry(HAL_SEQ_END(HAL_FIRST_PARAM params)) const noexcept { \
        return head_->table->entry(head_->instance HAL_ARGS(params));      \
    }
#include "hal/tables/all.def"
#undef HAL_FIRST_PARAM
#undef HAL_FIRST_PARAM_END

  private:
    const hal_backend* head_ = nullptr;
};

// A query struct with its header filled in.
template <class T>
[[nodiscard]] T sized() noexcept {
    T value{};
    value.header.size = sizeof(T);
    return value;
}

namespace detail {
// Reads a string entry of table 1: asks for the size, then for the text. May throw std::bad_alloc.
template <class Read>
Result<std::string> read_string(Read&& read) {
    std::string text;
    uint64_t size = 0;
    hal_status status = read(text.data(), uint64_t{0}, &size);
    // The text may grow between two calls.
    while (status == HAL_ERROR_BUFFER_TOO_SMALL && size > text.size()) {
        text.resize(size);
        status = read(text.data(), uint64_t{text.size()}, &size);
    }
    if (status != HAL_OK) {
        return status;
    }
    text.resize(size > 0 ? size - 1 : 0);
    return text;
}

// Runs a query that fills a sized struct or a plain value.
template <class T, class Read>
Result<T> read_value(Read&& read) noexcept {
    T value{};
    if constexpr (requires { value.header.size; }) {
        value.header.size = sizeof(T);
    }
    const hal_status status = read(&value);
    return status == HAL_OK ? Result<T>(value) : Result<T>(status);
}
}  // namespace detail

// One device of one back end.
class Device {
  public:
    constexpr Device() noexcept = default;
    constexpr Device(Backend backend, hal_dev ordinal, const char* backend_id = "") noexcept
        : backend_(backend), backend_id_(backend_id), ordinal_(ordinal) {}

    [[nodiscard]] constexpr const Backend& backend() const noexcept { return backend_; }
    [[nodiscard]] constexpr hal_dev ordinal() const noexcept { return ordinal_; }
    [[nodiscard]] constexpr const char* backend_id() const noexcept { return backend_id_; }

    // Waits for the work present on every stream of the device. TIMEOUT leaves that work alone.
    Status synchronize(uint64_t timeout_ns = HAL_NO_TIMEOUT) const noexcept {
        return backend_.synchronize_device(ordinal_, timeout_ns);
    }

    // Name and model, copied. May throw std::bad_alloc.
    [[nodiscard]] Result<std::string> name() const {
        return detail::read_string([&](char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) {
            return backend_.get_device_name(ordinal_, buffer, capacity_bytes, out_size_bytes);
        });
    }
    [[nodiscard]] Result<std::string> type() const {
        return detail::read_string([&](char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) {
            return backend_.get_device_type(ordinal_, buffer, capacity_bytes, out_size_bytes);
        });
    }

    [[nodiscard]] Result<hal_device_properties> properties() const noexcept {
        return detail::read_value<hal_device_properties>(
            [&](hal_device_properties* out) { return backend_.get_device_properties(ordinal_, out); });
    }
    [[nodiscard]] Result<hal_compute_capability> compute_capability() const noexcept {
        return detail::read_value<hal_compute_capability>(
            [&](hal_compute_capability* out) { return backend_.get_compute_capability(ordinal_, out); });
    }
    [[nodiscard]] Result<hal_memory_stats> memory_stats() const noexcept {
        return detail::read_value<hal_memory_stats>(
            [&](hal_memory_stats* out) { return backend_.device_memory_stats(ordinal_, out); });
    }

  private:
    Backend backend_;
    const char* backend_id_ = "";
    hal_dev ordinal_ = 0;
};

}  // namespace hal
