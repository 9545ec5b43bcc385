// Handles that may be wrong: a stale, foreign or garbage handle is told from a live one without touching memory behind
// it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace hal::shared {

// A different first generation for every table, so that handles of two instances do not meet.
[[nodiscard]] uint32_t random_generation();

// Owns objects of one kind. A handle is no pointer but tag | generation | index packed into one. Objects are
// type-stable: a slot is reused, with a new generation, and its memory stays until the table goes. So a handle that is
// used while another thread destroys it finds a closed object, never foreign memory. Object: default-constructible;
// whoever acquires a slot opens the object, whoever releases it has closed it.
template <class Object, class Handle, uint8_t Tag>
class HandleTable {
  public:
    struct Entry {
        Object* object;
        Handle handle;
    };

    HandleTable() : first_generation_(random_generation()) {}
    HandleTable(const HandleTable&) = delete;
    HandleTable& operator=(const HandleTable&) = delete;
    ~HandleTable() {
        for (auto& chunk : chunks_) {
            delete[] chunk.load(std::memory_order_relaxed);
        }
    }

    // The object of a live handle, else nullptr. No lock.
    [[nodiscard]] Object* find(Handle handle) const noexcept {
        const auto value = reinterpret_cast<uint64_t>(handle);
        const auto index = static_cast<uint32_t>(value & index_mask);
        const Place place = place_of(index);
        if (value >> 56 != Tag || place.chunk >= chunk_count) {
            return nullptr;
        }
        Slot* chunk = chunks_[place.chunk].load(std::memory_order_acquire);
        if (chunk == nullptr) {
            return nullptr;
        }
        Slot& slot = chunk[place.offset];
        return slot.live.load(std::memory_order_acquire) == value ? &slot.object : nullptr;
    }

    // A closed object and the handle that publish() makes valid. object is nullptr when all slots are taken.
    [[nodiscard]] Entry acquire() {
        const std::lock_guard lock(mutex_);
        if (free_.empty() && !grow()) {
            return {nullptr, nullptr};
        }
        const uint32_t index = free_.back();
        free_.pop_back();
        Slot& slot = slot_of(index);
        ++slot.generation;
        const uint64_t value = (uint64_t{Tag} << 56) | (uint64_t{slot.generation} << 24) | index;
        return {&slot.object, reinterpret_cast<Handle>(value)};
    }

    // The object is open: find() may return it.
    void publish(Handle handle) noexcept {
        const auto value = reinterpret_cast<uint64_t>(handle);
        slot_of(static_cast<uint32_t>(value & index_mask)).live.store(value, std::memory_order_release);
    }

    // Makes the handle invalid; true for the one caller who did. He closes the object and calls release().
    [[nodiscard]] bool revoke(Handle handle) noexcept {
        if (find(handle) == nullptr) {
            return false;
        }
        auto value = reinterpret_cast<uint64_t>(handle);
        return slot_of(static_cast<uint32_t>(value & index_mask)).live.compare_exchange_strong(value, 0);
    }

    // Gives a closed slot, acquired or revoked, back for reuse.
    void release(Handle handle) noexcept {
        const std::lock_guard lock(mutex_);
        free_.push_back(static_cast<uint32_t>(reinterpret_cast<uint64_t>(handle) & index_mask));  // within its capacity
    }

    // Calls f(object) for every slot that was ever used, open or not.
    template <class F>
    void for_each_slot(F&& f) {
        for (uint32_t chunk = 0; chunk < chunk_count; ++chunk) {
            Slot* slots = chunks_[chunk].load(std::memory_order_acquire);
            if (slots == nullptr) {
                return;
            }
            for (uint32_t i = 0; i < slots_of(chunk); ++i) {
                f(slots[i].object);
            }
        }
    }

  private:
    static constexpr uint64_t index_mask = 0xff'ffff;
    // Each chunk is twice as long as the one before it, so a few pointers reach them all.
    static constexpr uint32_t first_chunk_slots = 64;
    static constexpr uint32_t chunk_count = 15;
    static constexpr uint32_t max_objects = first_chunk_slots * ((1U << chunk_count) - 1);
    static_assert(max_objects <= index_mask);

    struct Slot {
        std::atomic<uint64_t> live{0};  // value of the handle that is valid now
        uint32_t generation = 0;
        Object object;
    };

    struct Place {
        uint32_t chunk;
        uint32_t offset;
    };
    static constexpr Place place_of(uint32_t index) noexcept {
        const uint32_t shifted = index + first_chunk_slots;
        const auto top = static_cast<uint32_t>(std::bit_width(shifted) - 1);
        return {top - static_cast<uint32_t>(std::bit_width(first_chunk_slots) - 1), shifted - (1U << top)};
    }
    static constexpr uint32_t slots_of(uint32_t chunk) noexcept { return first_chunk_slots << chunk; }

    Slot& slot_of(uint32_t index) const noexcept {
        const Place place = place_of(index);
        return chunks_[place.chunk].load(std::memory_order_relaxed)[place.offset];
    }

    bool grow() {
        if (chunks_used_ == chunk_count) {
            return false;
        }
        const uint32_t count = slots_of(chunks_used_);
        const uint32_t first = count - first_chunk_slots;
        free_.reserve(first + count);
        auto slots = std::make_unique<Slot[]>(count);
        for (uint32_t i = count; i-- > 0;) {
            slots[i].generation = first_generation_;
            free_.push_back(first + i);
        }
        chunks_[chunks_used_].store(slots.release(), std::memory_order_release);
        ++chunks_used_;
        return true;
    }

    std::array<std::atomic<Slot*>, chunk_count> chunks_{};
    std::mutex mutex_;
    std::vector<uint32_t> free_;
    uint32_t chunks_used_ = 0;
    uint32_t first_generation_;
};

}  // namespace hal::shared
