// Loader: the owner of everything that the wrapper hands out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hal/backend.hpp"

namespace hal {

// Owns a hal_loader. Every Backend, Device, Stream, Event, buffer and string of it must be gone before it is closed;
// the destructor closes it, destroys every instance with its live objects, and never throws. Move-only; any thread may
// call it, but not while another thread closes or moves it.
class Loader {
  public:
    // Reads the environment and the manifests; opens no library. The description is copied, NULL means all zero.
    static Result<Loader> open(const hal_loader_desc* desc = nullptr) noexcept {
        hal_loader* handle = nullptr;
        const hal_status status = hal_loader_open(desc, &handle);
        return status == HAL_OK ? Result<Loader>(Loader(handle)) : Result<Loader>(status);
    }

    Loader(Loader&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Loader& operator=(Loader&& other) noexcept {
        if (this != &other) {
            (void)close();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~Loader() { (void)close(); }

    // What the destructor does, with its status. Idempotent.
    Status close() noexcept { return hal_loader_close(std::exchange(handle_, nullptr)); }

    // Scans again; adds what is new, tries anew what failed, changes nothing else.
    Status rescan() noexcept { return hal_loader_rescan(handle_); }

    // Opens the back end on the first call.
    [[nodiscard]] Result<Backend> backend(const char* id) noexcept {
        const hal_backend* head = nullptr;
        const hal_status status = hal_backend_open(handle_, id, &head);
        return status == HAL_OK ? Result<Backend>(Backend(head)) : Result<Backend>(status);
    }

    // Opens every selected back end and lists their devices. NO_BACKEND, ALL_BACKENDS_FAILED and NO_DEVICE differ. This
    // and the lists below may throw std::bad_alloc, and nothing else.
    [[nodiscard]] Result<std::vector<Device>> devices() {
        std::vector<hal_device_ref> refs;
        uint64_t count = 0;
        hal_status status = hal_loader_devices(handle_, nullptr, 0, &count);
        while (status == HAL_INCOMPLETE) {
            refs.resize(count);
            status = hal_loader_devices(handle_, refs.data(), refs.size(), &count);
        }
        if (status != HAL_OK) {
            return status;
        }
        refs.resize(count);
        std::vector<Device> devices;
        devices.reserve(refs.size());
        for (const auto& ref : refs) {
            devices.emplace_back(Backend(ref.backend), ref.device, ref.id);
        }
        return devices;
    }

    // Every candidate in the order of the scan, every searched place, every variable. The strings in them are borrowed
    // as loader.h says.
    [[nodiscard]] Result<std::vector<hal_backend_report>> reports() const {
        return list<hal_backend_report>(hal_loader_report_count, hal_loader_report);
    }
    [[nodiscard]] Result<std::vector<hal_search_place>> search() const {
        return list<hal_search_place>(hal_loader_search_count, hal_loader_search);
    }
    [[nodiscard]] Result<std::vector<hal_variable>> variables() const {
        return list<hal_variable>(hal_loader_variable_count, hal_loader_variable);
    }

    // Still owned by this object.
    [[nodiscard]] hal_loader* get() const noexcept { return handle_; }

  private:
    explicit Loader(hal_loader* handle) noexcept : handle_(handle) {}

    template <class T>
    Result<std::vector<T>> list(hal_status (*count_of)(hal_loader*, uint64_t*),
                                hal_status (*read)(hal_loader*, uint64_t, T*)) const {
        uint64_t count = 0;
        if (const hal_status status = count_of(handle_, &count); status != HAL_OK) {
            return status;
        }
        std::vector<T> items;
        items.reserve(count);
        for (uint64_t index = 0; index < count; ++index) {
            T item = sized<T>();
            if (const hal_status status = read(handle_, index, &item); status != HAL_OK) {
                return status;
            }
            items.push_back(item);
        }
        return items;
    }

    hal_loader* handle_ = nullptr;
};

}  // namespace hal
