#include "free_lists.hpp"

#include <bit>

namespace hal::cpu {

uint32_t FreeLists::list_of(uint32_t granules) noexcept {
    if (granules < lists_per_row) {
        return granules;
    }
    const auto row = static_cast<uint32_t>(std::bit_width(granules)) - 5;  // sizes of 6 bits are row 1
    return row * lists_per_row + (granules >> (row - 1)) % lists_per_row;
}

void FreeLists::add(uint32_t start, uint32_t granules) noexcept {
    const uint32_t list = list_of(granules);
    const uint32_t old = heads_[list];
    map_.links(start) = {none, old};
    if (old != none) {
        map_.links(old).previous = start;
    }
    heads_[list] = start;
    used_lists_[list / lists_per_row] |= 1u << list % lists_per_row;
    used_rows_ |= 1u << list / lists_per_row;
}

void FreeLists::remove(uint32_t start, uint32_t granules) noexcept {
    const auto [previous, next] = map_.links(start);
    if (next != none) {
        map_.links(next).previous = previous;
    }
    if (previous != none) {
        map_.links(previous).next = next;
        return;
    }
    const uint32_t list = list_of(granules);
    heads_[list] = next;
    if (next == none) {
        uint32_t& lists = used_lists_[list / lists_per_row];
        lists &= ~(1u << list % lists_per_row);
        if (lists == 0) {
            used_rows_ &= ~(1u << list / lists_per_row);
        }
    }
}

uint32_t FreeLists::find(uint32_t granules) const noexcept {
    // Its own list may hold blocks that are too small, but also the one that was freed last: look at a few. Every block
    // of a later list fits. Only then the rest of the own list is worth a walk.
    constexpr uint32_t glance = 4;
    const uint32_t own = list_of(granules);
    if (const uint32_t start = scan(own, granules, glance); start != none) {
        return start;
    }
    if (const uint32_t list = first_list_from(own + 1); list != none) {
        return heads_[list];
    }
    return scan(own, granules, UINT32_MAX);
}

uint32_t FreeLists::find_largest() const noexcept {
    if (used_rows_ == 0) {
        return none;
    }
    const auto row = static_cast<uint32_t>(std::bit_width(used_rows_)) - 1;
    return heads_[row * lists_per_row + static_cast<uint32_t>(std::bit_width(used_lists_[row])) - 1];
}

uint32_t FreeLists::first_list_from(uint32_t list) const noexcept {
    const uint32_t row = list / lists_per_row;
    if (row >= row_count) {
        return none;
    }
    if (const uint32_t lists = used_lists_[row] & (~0u << list % lists_per_row); lists != 0) {
        return row * lists_per_row + static_cast<uint32_t>(std::countr_zero(lists));
    }
    const uint32_t rows = used_rows_ & ~((2u << row) - 1);
    if (rows == 0) {
        return none;
    }
    const auto next = static_cast<uint32_t>(std::countr_zero(rows));
    return next * lists_per_row + static_cast<uint32_t>(std::countr_zero(used_lists_[next]));
}

uint32_t FreeLists::scan(uint32_t list, uint32_t granules, uint32_t most) const noexcept {
    for (uint32_t start = heads_[list]; start != none && most-- > 0; start = map_.links(start).next) {
        if (map_.get(start).granules >= granules) {
            return start;
        }
    }
    return none;
}

}  // namespace hal::cpu
