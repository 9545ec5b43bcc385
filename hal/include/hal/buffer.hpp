// Buffer and HostBuffer: owners of device memory and of page-locked host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "hal/stream.hpp"

namespace hal {

// Owns device memory, aligned to at least 256 bytes. Move-only. Pending work: the destructor frees at once, waits for
// nothing and never throws, so synchronise the streams that use the memory first, or hand it over with release_on. Must
// be gone before its Loader is closed.
class Buffer {
  public:
    // size_bytes 0 is INVALID_ARGUMENT.
    static Result<Buffer> allocate(const Device& device, uint64_t size_bytes) noexcept {
        hal_dptr ptr = 0;
        const hal_status status = device.backend().device_memory_allocate(device.ordinal(), size_bytes, &ptr);
        return status == HAL_OK ? Result<Buffer>(Buffer(device, ptr, size_bytes)) : Result<Buffer>(status);
    }

    // In stream order: usable by work that is enqueued on the stream later, and by any other after an event.
    static Result<Buffer> allocate_on(const Stream& stream, uint64_t size_bytes) noexcept {
        const Device& device = stream.device();
        hal_dptr ptr = 0;
        const hal_status status =
            device.backend().async_memory_allocate(device.ordinal(), stream.get(), size_bytes, &ptr);
        return status == HAL_OK ? Result<Buffer>(Buffer(device, ptr, size_bytes)) : Result<Buffer>(status);
    }

    Buffer(Buffer&& other) noexcept
        : device_(other.device_),
          ptr_(std::exchange(other.ptr_, 0)),
          size_bytes_(std::exchange(other.size_bytes_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        if (this != &other) {
            (void)close();
            device_ = other.device_;
            ptr_ = std::exchange(other.ptr_, 0);
            size_bytes_ = std::exchange(other.size_bytes_, 0);
        }
        return *this;
    }
    ~Buffer() { (void)close(); }

    // What the destructor does, with its status. Idempotent.
    Status close() noexcept {
        const hal_dptr ptr = std::exchange(ptr_, 0);
        const uint64_t size_bytes = std::exchange(size_bytes_, 0);
        return ptr == 0 ? HAL_OK : device_.backend().device_memory_deallocate(device_.ordinal(), ptr, size_bytes);
    }

    // Frees in stream order: after the work that is on the stream now. On an error the memory is still owned here.
    Status release_on(const Stream& stream) noexcept {
        const hal_status status = device_.backend().async_memory_deallocate(device_.ordinal(), stream.get(), ptr_);
        if (status == HAL_OK) {
            ptr_ = 0;
            size_bytes_ = 0;
        }
        return status;
    }

    // Synchronous copies to and from the host, complete on return and ordered after nothing. Out of range is
    // INVALID_ARGUMENT.
    Status write(std::span<const std::byte> from, uint64_t offset_bytes = 0) noexcept {
        if (!fits(from.size(), offset_bytes)) {
            return out_of_range();
        }
        return device_.backend().memory_copy_h2d(device_.ordinal(), ptr_ + offset_bytes, from.data(), from.size());
    }
    Status read(std::span<std::byte> to, uint64_t offset_bytes = 0) const noexcept {
        if (!fits(to.size(), offset_bytes)) {
            return out_of_range();
        }
        return device_.backend().memory_copy_d2h(device_.ordinal(), to.data(), ptr_ + offset_bytes, to.size());
    }

    // The same on a stream of the device: return before completion; the host memory stays valid and unmodified until
    // then.
    Status write_on(const Stream& stream, std::span<const std::byte> from, uint64_t offset_bytes = 0) noexcept {
        if (!fits(from.size(), offset_bytes)) {
            return out_of_range();
        }
        return device_.backend().async_memory_copy_h2d(device_.ordinal(), stream.get(), ptr_ + offset_bytes,
                                                       from.data(), from.size());
    }
    Status read_on(const Stream& stream, std::span<std::byte> to, uint64_t offset_bytes = 0) const noexcept {
        if (!fits(to.size(), offset_bytes)) {
            return out_of_range();
        }
        return device_.backend().async_memory_copy_d2h(device_.ordinal(), stream.get(), to.data(), ptr_ + offset_bytes,
                                                       to.size());
    }

    // Sets every byte; complete on return.
    Status fill(uint8_t value) noexcept {
        return device_.backend().device_memory_set(device_.ordinal(), ptr_, value, size_bytes_);
    }

    [[nodiscard]] hal_dptr ptr() const noexcept { return ptr_; }
    [[nodiscard]] uint64_t size_bytes() const noexcept { return size_bytes_; }
    [[nodiscard]] const Device& device() const noexcept { return device_; }

  private:
    Buffer(const Device& device, hal_dptr ptr, uint64_t size_bytes) noexcept
        : device_(device), ptr_(ptr), size_bytes_(size_bytes) {}

    [[nodiscard]] bool fits(uint64_t size_bytes, uint64_t offset_bytes) const noexcept {
        return offset_bytes <= size_bytes_ && size_bytes <= size_bytes_ - offset_bytes;
    }
    static Status out_of_range() noexcept {
        return Status(HAL_ERROR_INVALID_ARGUMENT, "the copy reaches past the end of the buffer; check offset and size");
    }

    Device device_;
    hal_dptr ptr_ = 0;
    uint64_t size_bytes_ = 0;
};

// Owns page-locked host memory of a device. Move-only. Pending work: the destructor frees at once, waits for nothing
// and never throws, so synchronise the copies that use it first. Must be gone before its Loader is closed.
class HostBuffer {
  public:
    // size_bytes 0 is INVALID_ARGUMENT.
    static Result<HostBuffer> allocate(const Device& device, uint64_t size_bytes) noexcept {
        void* ptr = nullptr;
        const hal_status status = device.backend().host_memory_allocate(device.ordinal(), size_bytes, &ptr);
        return status == HAL_OK ? Result<HostBuffer>(HostBuffer(device, ptr, size_bytes)) : Result<HostBuffer>(status);
    }

    HostBuffer(HostBuffer&& other) noexcept
        : device_(other.device_),
          ptr_(std::exchange(other.ptr_, nullptr)),
          size_bytes_(std::exchange(other.size_bytes_, 0)) {}
    HostBuffer& operator=(HostBuffer&& other) noexcept {
        if (this != &other) {
            (void)close();
            device_ = other.device_;
            ptr_ = std::exchange(other.ptr_, nullptr);
            size_bytes_ = std::exchange(other.size_bytes_, 0);
        }
        return *this;
    }
    ~HostBuffer() { (void)close(); }

    // What the destructor does, with its status. Idempotent.
    Status close() noexcept {
        void* ptr = std::exchange(ptr_, nullptr);
        const uint64_t size_bytes = std::exchange(size_bytes_, 0);
        return ptr == nullptr ? HAL_OK : device_.backend().host_memory_deallocate(device_.ordinal(), ptr, size_bytes);
    }

    // Borrowed until this object is destroyed, closed or moved from.
    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return {static_cast<std::byte*>(ptr_), static_cast<size_t>(size_bytes_)};
    }
    [[nodiscard]] void* data() const noexcept { return ptr_; }
    [[nodiscard]] uint64_t size_bytes() const noexcept { return size_bytes_; }
    [[nodiscard]] const Device& device() const noexcept { return device_; }

  private:
    HostBuffer(const Device& device, void* ptr, uint64_t size_bytes) noexcept
        : device_(device), ptr_(ptr), size_bytes_(size_bytes) {}

    Device device_;
    void* ptr_ = nullptr;
    uint64_t size_bytes_ = 0;
};

}  // namespace hal
