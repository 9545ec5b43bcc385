// One thread at a time, for plug-ins that ask for it (HAL_BACKEND_SERIALIZE_ALL). SERIALIZE_STREAM gets the same: locks
// per stream would need to know which entries touch which stream and device, and be wrong for the vendor who meant
// more.
//
// A layer: tables with an instance of their own, which points at the next {tables, instance}. Plug-ins without the flag
// never meet it.
//
// Rule of the lock. It is recursive: a host callback that a plug-in runs inside a call may call the same back end. A
// callback on a thread of the plug-in takes the lock if it is free and else answers REENTRANT at once: the thread that
// holds it may be waiting in synchronize_stream for this very callback.
#pragma once

#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tables.hpp"

namespace hal::loader {

class Serializer {
  public:
    // `next` is borrowed.
    Serializer(const Tables& next, hal_instance* instance, std::string id)
        : next_(next), next_instance_(instance), id_(std::move(id)) {}

    // What the entries of serialized_tables get as `self`.
    [[nodiscard]] hal_instance* instance() { return reinterpret_cast<hal_instance*>(this); }
    static Serializer& of(hal_instance* self) { return *reinterpret_cast<Serializer*>(self); }

    // Copies of kernels whose functions take the lock and hand the original the plug-in's own instance. What is no
    // sound kernel is passed on as it is, for the registry to refuse. Owned by this object.
    std::vector<const hal_kernel*> wrap(std::span<const hal_kernel* const> kernels);

    [[nodiscard]] const Tables& next() const { return next_; }
    [[nodiscard]] hal_instance* next_instance() const { return next_instance_; }
    [[nodiscard]] const std::string& id() const { return id_; }

    // Locked, or an unlocked lock inside a callback while another thread is in.
    [[nodiscard]] std::unique_lock<std::recursive_mutex> enter();

  private:
    const Tables& next_;
    hal_instance* next_instance_;
    const std::string id_;
    std::recursive_mutex mutex_;
    std::mutex wrapping_;
    struct Wrapped : hal_kernel {
        const hal_kernel* original;
        Serializer* owner;
    };
    std::deque<Wrapped> wrapped_;

    friend struct WrappedKernel;
};

extern const Tables serialized_tables;

}  // namespace hal::loader
