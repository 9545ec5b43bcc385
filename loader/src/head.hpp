// The public heads (hal_backend). They are leaked and reused, never freed, so that a pointer to a closed back end stays
// readable: its entries answer SHUTDOWN until the head serves another back end.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "hal/loader.h"

namespace hal::loader {

class Opened;
class Registry;

// What loader.h shows of it is the base, so a hal_backend* of ours is a Head*.
struct Head : hal_backend {
    // nullptr while nothing is open behind the head
    std::atomic<const Registry*> registry{nullptr};
    std::atomic<Opened*> opened{nullptr};
    std::atomic<hal_instance*> plugin{nullptr};  // the plug-in's instance: `self` of its stubs and emulations

    std::atomic<uint64_t> retired{0};  // ticket, 0 while in use
    Head* next = nullptr;
    char id[72] = {};  // of the last back end behind it
};

// A head for an opened back end; takes no lock, so it works in the child of a fork too.
Head& acquire_head();

// Publishes the instance. Returns the id of another live back end with the same instance pointer, or "" if there is
// none.
std::string_view claim_instance(Head& head, hal_instance* instance, Opened& opened, std::string_view id);

// Makes every entry answer SHUTDOWN and lets the head be reused after `quarantine` other closings.
void retire_head(Head& head) noexcept;
inline constexpr uint64_t quarantine = 64;

// The live back end of a plug-in's instance; nullptr for none. Walks the list of heads: for cold paths.
Opened* find_opened(const hal_instance* instance) noexcept;

inline const Head& head_of(const hal_backend* backend) {
    return *static_cast<const Head*>(backend);
}

// For tests: heads ever made.
size_t head_count() noexcept;

}  // namespace hal::loader
