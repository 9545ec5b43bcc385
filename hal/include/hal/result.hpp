// Status and Result: how the C++ wrapper reports errors. No exception is thrown here, and none is needed to use it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "hal/loader.h"

namespace hal {

// A hal_status with the text of the error, which it copies from hal_last_error when it is made: make it on the thread
// of the call, right after it. Success and the outcomes that are no error allocate nothing. Move-only.
class [[nodiscard]] Status {
  public:
    Status() noexcept = default;

    // Implicit, so that an entry's hal_status can be returned as a Status.
    Status(hal_status code) noexcept : code_(code) {
        if (code >= HAL_OK) {
            return;
        }
        hal_error_info info{};
        info.header.size = sizeof info;
        // The thread's last text may be of an older error if a back end returned this one without a text.
        if (hal_last_error_info(&info) == HAL_OK && info.status == code) {
            text_ = Text(info.text);
            vendor_code_ = info.vendor_code;
        }
    }

    // An error of the caller's own. The text is copied.
    Status(hal_status code, const char* text) noexcept : code_(code), text_(text) {}

    [[nodiscard]] hal_status code() const noexcept { return code_; }

    // HAL_OK and nothing else.
    [[nodiscard]] bool ok() const noexcept { return code_ == HAL_OK; }
    explicit operator bool() const noexcept { return ok(); }

    // False for NOT_READY, IN_PROGRESS and INCOMPLETE, which are not ok() either.
    [[nodiscard]] bool is_error() const noexcept { return code_ < HAL_OK; }

    // What went wrong; borrowed from this object. The general text of the code if the failing side gave none.
    [[nodiscard]] const char* text() const noexcept {
        return text_.get() != nullptr ? text_.get() : hal_status_text(code_);
    }

    // The driver's own number, 0 if none.
    [[nodiscard]] int64_t vendor_code() const noexcept { return vendor_code_; }

    // Runs f after success and returns what it returns (a Status, hal_status or Result); hands on anything else
    // unchanged.
    template <class F>
    auto and_then(F&& f) && {
        using Next = std::invoke_result_t<F>;
        using Out = std::conditional_t<std::is_same_v<Next, hal_status>, Status, Next>;
        return ok() ? Out(std::invoke(std::forward<F>(f))) : Out(std::move(*this));
    }

  private:
    // Allocated without throwing: without memory the text is lost, the code is not. No unique_ptr, because in one
    // clang-14's analyser sees a leak at every use of a Status.
    class Text {
      public:
        Text() noexcept = default;
        explicit Text(const char* text) noexcept {
            const size_t size = text == nullptr || *text == '\0' ? 0 : std::strlen(text) + 1;
            bytes_ = size == 0 ? nullptr : new (std::nothrow) char[size];
            if (bytes_ != nullptr) {
                std::memcpy(bytes_, text, size);
            }
        }
        Text(Text&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)) {}
        Text& operator=(Text&& other) noexcept {
            std::swap(bytes_, other.bytes_);
            return *this;
        }
        ~Text() { delete[] bytes_; }
        [[nodiscard]] const char* get() const noexcept { return bytes_; }

      private:
        char* bytes_ = nullptr;
    };

    hal_status code_ = HAL_OK;
    Text text_;
    int64_t vendor_code_ = 0;
};

// A value, or the Status that says why there is none. value() and operator* of a Result without a value print its text
// and abort: test it first.
template <class T>
class [[nodiscard]] Result {
  public:
    using value_type = T;

    Result(T value) : value_(std::move(value)) {}

    // A Result without a value. HAL_OK is INTERNAL here: it promises a value.
    Result(Status status) noexcept : status_(std::move(status)) {
        if (status_.ok()) {
            status_ = Status(HAL_ERROR_INTERNAL, "a result was made of HAL_OK without a value");
        }
    }
    Result(hal_status code) noexcept : Result(Status(code)) {}

    [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
    explicit operator bool() const noexcept { return ok(); }

    // HAL_OK with a value, else the reason. Borrowed from this object, or moved out of a temporary.
    [[nodiscard]] const Status& status() const& noexcept { return status_; }
    [[nodiscard]] Status status() && noexcept { return std::move(status_); }
    [[nodiscard]] hal_status code() const noexcept { return status_.code(); }
    [[nodiscard]] const char* text() const noexcept { return status_.text(); }

    [[nodiscard]] T& value() & noexcept { return *checked(); }
    [[nodiscard]] const T& value() const& noexcept { return *checked(); }
    [[nodiscard]] T&& value() && noexcept { return std::move(*checked()); }
    [[nodiscard]] T& operator*() & noexcept { return value(); }
    [[nodiscard]] const T& operator*() const& noexcept { return value(); }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(*this).value(); }
    [[nodiscard]] T* operator->() noexcept { return &value(); }
    [[nodiscard]] const T* operator->() const noexcept { return &value(); }

    template <class U>
    [[nodiscard]] T value_or(U&& fallback) && {
        return ok() ? std::move(*value_) : static_cast<T>(std::forward<U>(fallback));
    }

    // Runs f with the value and returns what it returns (a Status, hal_status or Result), or hands on the reason.
    template <class F>
    auto and_then(F&& f) && {
        using Next = std::invoke_result_t<F, T&&>;
        using Out = std::conditional_t<std::is_same_v<Next, hal_status>, Status, Next>;
        return ok() ? Out(std::invoke(std::forward<F>(f), std::move(*value_))) : Out(std::move(status_));
    }

    // A Result of what f makes of the value, or the reason.
    template <class F>
    auto transform(F&& f) && {
        using Out = Result<std::invoke_result_t<F, T&&>>;
        return ok() ? Out(std::invoke(std::forward<F>(f), std::move(*value_))) : Out(std::move(status_));
    }

  private:
    const std::optional<T>& checked() const noexcept {
        if (!ok()) {
            std::fprintf(stderr, "hal::Result: no value: %s: %s\n", hal_status_name(status_.code()), status_.text());
            std::abort();
        }
        return value_;
    }
    std::optional<T>& checked() noexcept { return const_cast<std::optional<T>&>(std::as_const(*this).checked()); }

    Status status_;
    std::optional<T> value_;
};

}  // namespace hal
